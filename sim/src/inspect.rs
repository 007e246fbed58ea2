//! What a real table is: its history, its files, its rows.
