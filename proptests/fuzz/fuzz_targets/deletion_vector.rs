#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::quietly(proptests::fuzz::deletion_vector, bytes));
