//! Z85, the text form of bytes that deletion vectors use (ZeroMQ RFC 32): five characters for four bytes, most significant first.

use super::DeletionVectorError;

const DIGITS: &[u8; 85] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Text from whole groups of four bytes.
///
/// # Panics
/// When there are other bytes behind the last whole group.
pub(super) fn encode(bytes: &[u8]) -> String {
    let (groups, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty(), "Z85 has no text for {} bytes", bytes.len());
    let mut text = String::with_capacity(groups.len() * 5);
    for group in groups {
        let number = u32::from_be_bytes(*group);
        text.extend((0..5).rev().map(|place| char::from(DIGITS[(number / 85_u32.pow(place) % 85) as usize])));
    }
    text
}

/// Bytes from text.
///
/// # Errors
/// When there are characters behind the last whole group or foreign ones, or when a group stands for more than 32 bits.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, DeletionVectorError> {
    let wrong = || DeletionVectorError::Z85(text.to_owned());
    let (groups, rest) = text.as_bytes().as_chunks::<5>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    let mut bytes = Vec::with_capacity(groups.len() * 4);
    for group in groups {
        let mut number = 0_u64;
        for character in group {
            let digit = DIGITS.iter().position(|digit| digit == character).ok_or_else(wrong)?;
            number = number * 85 + digit as u64;
        }
        bytes.extend(u32::try_from(number).map_err(|_| wrong())?.to_be_bytes());
    }
    Ok(bytes)
}
