//! Tables as Parquet files: one row group, plain columns, no compression; the same bytes for the same table.

use super::table::{Cells, Column, Table};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

impl Table {
    /// The table as a Parquet file.
    ///
    /// # Panics
    /// If the library cannot write a table into memory, which is a defect.
    pub fn to_parquet(&self) -> Vec<u8> {
        write(self).expect("a table can be written into memory")
    }
}

fn write(table: &Table) -> Result<Vec<u8>> {
    let fields =
        table.columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("results").with_fields(fields).build()?;
    // the version of this library says nothing about the content, and would change the bytes
    let properties = WriterProperties::builder().set_created_by("riosim".into()).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &table.columns {
        match &column.cells {
            Cells::Text(cells) => put::<ByteArrayType, _>(&mut group, cells, |text: &String| {
                ByteArray::from(text.as_bytes().to_vec())
            })?,
            Cells::Whole(cells) => put::<Int64Type, _>(&mut group, cells, |number| *number)?,
            Cells::Real(cells) | Cells::Given(cells) => {
                put::<DoubleType, _>(&mut group, cells, |number| *number)?;
            }
            Cells::Flag(cells) => put::<BoolType, _>(&mut group, cells, |flag| *flag)?,
        }
    }
    group.close()?;
    file.into_inner()
}

fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match column.cells {
        Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Whole(_) => (Physical::INT64, None),
        Cells::Real(_) | Cells::Given(_) => (Physical::DOUBLE, None),
        Cells::Flag(_) => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn put<D: DataType, T>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    cells: &[Option<T>],
    convert: impl Fn(&T) -> D::T,
) -> Result<()> {
    let values: Vec<D::T> = cells.iter().flatten().map(convert).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let mut column = group.next_column()?.expect("as many columns as the schema has");
    column.typed::<D>().write_batch(&values, Some(&present), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn what_is_written_can_be_read() {
        let column =
            |name: &str, cells| Column { name: name.into(), unit: "".into(), about: "".into(), cells };
        let table = Table {
            rows: 3,
            columns: vec![
                column("kind", Cells::Text(vec![Some("fifo".into()), None, Some("µ".into())])),
                column("seed", Cells::Whole(vec![Some(1 << 52), Some(-1), None])),
                column("load", Cells::Real(vec![Some(0.1), None, Some(1e300)])),
                column("steady", Cells::Flag(vec![Some(true), Some(false), None])),
            ],
        };
        let bytes = table.to_parquet();
        assert_eq!(bytes, table.to_parquet());
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let text = |text: &str| Field::Str(text.into());
        assert_eq!(rows[0], [text("fifo"), Field::Long(1 << 52), Field::Double(0.1), Field::Bool(true)]);
        assert_eq!(rows[1], [Field::Null, Field::Long(-1), Field::Null, Field::Bool(false)]);
        assert_eq!(rows[2], [text("µ"), Field::Null, Field::Double(1e300), Field::Null]);
    }
}
