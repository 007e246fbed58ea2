use super::*;

fn schema(text: &str) -> Arc<Schema> {
    Arc::new(Schema::parse(text).expect("a schema"))
}

/// A column `a` with a field `b` in it, mapped to `col-1` and `col-2`.
fn mapped() -> Arc<Schema> {
    schema(
        r#"{"type":"struct","fields":[
            {"name":"a","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"},
             "type":{"type":"struct","fields":[{"name":"b","type":"long","nullable":true,
                "metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-2"}}]}},
            {"name":"p","type":"string","nullable":true,
             "metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"col-3"}}]}"#,
    )
}

#[test]
fn physical_names_reach_into_structs() {
    let layout = Layout::new(mapped(), &["P".to_owned()], ColumnMapping::Name).expect("a layout");
    assert_eq!(layout.physical.fields[0].name, "col-1");
    assert_eq!(layout.physical.fields[0].data_type.to_string(), "struct<col-2:long>");
    assert_eq!(layout.schema.fields[0].name, "a");
    assert_eq!(layout.partition_names(), ["col-3"]);
    let plain = Layout::new(mapped(), &[], ColumnMapping::None).expect("a layout");
    assert_eq!(plain.physical, *plain.schema, "without the property the names of the metadata do not count");
}

#[test]
fn a_column_without_its_physical_name_is_named() {
    let mut broken = Schema::clone(&mapped());
    let DataType::Struct(inner) = &mut broken.fields[0].data_type else { panic!("a struct") };
    inner.fields[0].metadata.clear();
    let error = Layout::new(Arc::new(broken), &[], ColumnMapping::Name).expect_err("no name");
    assert_eq!(
        error.to_string(),
        "column 'a.b' has no delta.columnMapping.physicalName in its metadata, which column mapping needs"
    );
}

#[test]
fn the_mode_is_read_in_any_case_and_never_guessed() {
    let of = |mode: &str| ColumnMapping::of(&BTreeMap::from([(MODE.to_owned(), mode.to_owned())]));
    assert_eq!(of("ID"), Ok(ColumnMapping::Id));
    assert_eq!(of("none"), Ok(ColumnMapping::None));
    assert_eq!(of("names"), Err(LayoutError::Mode("names".to_owned())));
    assert_eq!(ColumnMapping::of(&BTreeMap::new()), Ok(ColumnMapping::None));
}

/// Report 30.
#[test]
fn a_partition_column_of_which_the_log_says_nothing_is_null() {
    let layout = Layout::new(mapped(), &["p".to_owned()], ColumnMapping::Name).expect("a layout");
    let text = |key: &str, value: Option<&str>, index| {
        let values = PartitionValues::from([(key.to_owned(), value.map(str::to_owned))]);
        layout.partition_text(&values, index).map(|text| text.map(str::to_owned))
    };
    assert_eq!(text("col-3", Some("x"), 1), Some(Some("x".to_owned())));
    assert_eq!(text("COL-3", Some("x"), 1), Some(Some("x".to_owned())));
    assert_eq!(text("p", Some("x"), 1), Some(None), "the logical name is another column's");
    assert_eq!(text("col-3", None, 1), Some(None));
    assert_eq!(text("col-3", Some("x"), 0), None);
}
