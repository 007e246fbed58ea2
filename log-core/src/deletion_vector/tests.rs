use super::*;

fn rows(rows: &[u64]) -> DeletedRows {
    rows.iter().copied().collect()
}

/// The deleted rows of a descriptor that carries them, or what is wrong.
fn read_inline(text: &str, size_in_bytes: i32, cardinality: i64) -> Result<DeletedRows, DeletionVectorError> {
    let vector = DeletionVector {
        storage_type: "i".to_owned(),
        path_or_inline_dv: text.to_owned(),
        size_in_bytes,
        cardinality,
        ..DeletionVector::default()
    };
    let Place::Inline(bytes) = vector.place()? else { panic!("it is inline") };
    vector.read_inline(&bytes)
}

/// From commits of delta-kernel-rs' table `cdf-table-with-dv` (Apache-2.0).
#[test]
fn inline_vectors_of_another_writer_are_read() {
    let read = |text, size, cardinality| read_inline(text, size, cardinality).expect("rows");
    assert_eq!(read("^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9", 40, 4), rows(&[0, 1, 4, 5]));
    assert_eq!(read("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5", 36, 2), rows(&[0, 5]));
}

/// The same table, version 5: its last group stands for 4 436 439 768, more than 32 bits.
#[test]
fn text_of_more_than_32_bits_is_refused_and_does_not_wrap_around() {
    let text = "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093";
    assert_eq!(read_inline(text, 34, 1), Err(DeletionVectorError::Z85(text.to_owned())));
    for text in ["0000", "000 0", "000\u{e4}0"] {
        assert!(read_inline(text, 4, 0).is_err(), "{text}");
    }
}

/// The example of ZeroMQ RFC 32.
#[test]
fn z85_is_that_of_its_specification() {
    let bytes = [0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b];
    assert_eq!(z85::encode(&bytes), "HelloWorld");
    assert_eq!(z85::decode("HelloWorld").as_deref(), Ok(&bytes[..]));
    assert_eq!(z85::decode(&z85::encode(&[0xff; 4])).as_deref(), Ok(&[0xff; 4][..]));
}

/// The example of the protocol: the prefix `ab` and the id d2c639aa-8816-431a-aaf6-d3fe2512ff61.
#[test]
fn the_path_of_a_file_is_made_of_prefix_and_id() {
    let place = |text: &str| {
        let vector = DeletionVector {
            storage_type: "u".to_owned(),
            path_or_inline_dv: text.to_owned(),
            ..DeletionVector::default()
        };
        vector.place()
    };
    let path = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
    assert_eq!(place("ab^-aqEH.-t@S}K{vb[*k^"), Ok(Place::InTable(path.to_owned())));
    assert_eq!(place("^-aqEH.-t@S}K{vb[*k^"), Ok(Place::InTable(path[3..].to_owned())));
    for text in [
        "",
        "x",
        "..^-aqEH.-t@S}K{vb[*k^",
        "../a^-aqEH.-t@S}K{vb[*k^",
        "a\0^-aqEH.-t@S}K{vb[*k^",
        "ä-aqEH.-t@S}K{vb[*k^",
    ] {
        assert!(place(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_written_comes_back() {
    let sets = [
        rows(&[]),
        rows(&[0]),
        (0..100_000).collect(),
        (0..100_000).step_by(3).collect(),
        rows(&[1, u64::from(u32::MAX), 1 << 33, (1 << 40) + 7]),
    ];
    for rows in &sets {
        let vector = DeletionVector::inline(rows).expect("it is small");
        assert_eq!(read_inline(&vector.path_or_inline_dv, vector.size_in_bytes, vector.cardinality).as_ref(), Ok(rows));
    }
    let references: Vec<&DeletedRows> = sets.iter().collect();
    let file = VectorFile::new("ab", [7; 16], &references).expect("it is small");
    for (vector, rows) in file.descriptors.iter().zip(&sets) {
        assert_eq!(vector.place(), Ok(Place::InTable(file.path.clone())));
        assert_eq!(vector.read_file(&file.bytes).as_ref(), Ok(rows));
    }
    assert!(VectorFile::new("a/b", [7; 16], &references).is_err());
}

#[test]
fn the_native_format_is_read() {
    let mut bytes = 1_681_511_376_u32.to_le_bytes().to_vec();
    bytes.extend(2_u32.to_le_bytes());
    for row in [5, 6] {
        let mut bitmap = Vec::new();
        roaring::RoaringBitmap::from_iter([row]).serialize_into(&mut bitmap).expect("a vector takes every byte");
        bytes.extend((bitmap.len() as u32).to_le_bytes());
        bytes.extend(bitmap);
    }
    assert_eq!(DeletedRows::parse(&bytes), Ok(rows(&[5, (1 << 32) + 6])));
    bytes.push(0);
    assert!(DeletedRows::parse(&bytes).is_err(), "a byte too many");
}

#[test]
fn what_does_not_fit_its_descriptor_is_named() {
    let file = VectorFile::new("", [1; 16], &[&rows(&[1, 2, 3])]).expect("it is small");
    let whole = &file.descriptors[0];
    let check = |change: &dyn Fn(&mut DeletionVector, &mut Vec<u8>), expected: &str| {
        let (mut vector, mut bytes) = (whole.clone(), file.bytes.clone());
        change(&mut vector, &mut bytes);
        assert_eq!(vector.read_file(&bytes).expect_err(expected).to_string(), expected);
    };
    check(
        &|_, bytes| bytes[0] = 2,
        "the first byte of the file says format 2, and this build of contend reads format 1",
    );
    check(&|_, bytes| bytes.clear(), "it is said to be 38 bytes at offset 1, and there are 0 bytes in all");
    check(&|_, bytes| bytes.truncate(45), "it is said to be 38 bytes at offset 1, and there are 45 bytes in all");
    check(
        &|vector, _| vector.offset = Some(-1),
        "it is said to be 38 bytes at offset -1, and there are 47 bytes in all",
    );
    check(
        &|vector, _| vector.offset = Some(i32::MAX),
        "it is said to be 38 bytes at offset 2147483647, and there are 47 bytes in all",
    );
    check(&|vector, _| vector.size_in_bytes = 37, "the log says that it has 37 bytes, its file says 38");
    check(&|vector, _| vector.size_in_bytes = -1, "the log says that it has -1 bytes, its file says 38");
    check(&|vector, _| vector.cardinality = 4, "the log says that it deletes 4 rows, its bitmap has 3");
    let sum = u32::from_be_bytes(file.bytes[43..47].try_into().unwrap());
    check(
        &|_, bytes| bytes[46] ^= 1,
        &format!("its checksum is {sum:08x} and should be {:08x}: the file is damaged", sum ^ 1),
    );
}

#[test]
fn hostile_bytes_are_an_error_and_need_no_memory() {
    let honest = rows(&[1, 2, 3, 70_000]).to_bytes();
    for length in 0..honest.len() {
        assert!(DeletedRows::parse(&honest[..length]).is_err(), "{length} bytes");
    }
    for at in 0..honest.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = honest.clone();
            bytes[at] = byte;
            // Either is fine; what counts is that it ends.
            let _ = DeletedRows::parse(&bytes);
        }
    }
    // As many bitmaps as can be told, and none there.
    let mut bytes = 1_681_511_377_u32.to_le_bytes().to_vec();
    bytes.extend(u64::MAX.to_le_bytes());
    assert!(DeletedRows::parse(&bytes).is_err());
    let mut bytes = 1_681_511_376_u32.to_le_bytes().to_vec();
    bytes.extend(u32::MAX.to_le_bytes());
    assert!(DeletedRows::parse(&bytes).is_err());
}

#[test]
fn ranges_are_asked_without_a_walk() {
    let rows = rows(&[3, 8_192]);
    for (range, expected) in
        [(0..3, false), (0..4, true), (3..4, true), (4..8_192, false), (4..8_193, true), (9_000..9_001, false)]
    {
        assert_eq!(rows.any_in(range.clone()), expected, "{range:?}");
    }
}
