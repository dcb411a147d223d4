//! Collectors, estimators, figures and reports
