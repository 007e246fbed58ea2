//! The proleptic Gregorian calendar, in which dates and timestamps are counted.

#[cfg(test)]
mod tests;

pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
pub(crate) const MICROS_PER_DAY: i64 = SECONDS_PER_DAY * MICROS_PER_SECOND;

/// The days of a month, 1 to 12, of the proleptic Gregorian calendar.
pub(crate) fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar; `month` 1 to 12, `day` 1 to 31 (not checked). Dates beyond the
/// range of the result give its nearest end.
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i32 {
    // Years are counted from March, so that the leap day is the last day of the year; 400 of them are always 146 097 days.
    let year = i64::from(year) - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    days.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i32) -> (i32, u32, u32) {
    let days = i64::from(days) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year as i32, month as u32, day as u32)
}

/// `yyyy-MM-dd`; years of more than four digits have a sign.
pub(crate) fn date_text(days: i32) -> String {
    let (year, month, day) = civil_from_days(days);
    let sign = match year {
        10_000.. => "+",
        0.. => "",
        _ => "-",
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `yyyy-MM-dd HH:mm:ss` of seconds since the epoch, with a separator between date and time.
pub(crate) fn seconds_text(seconds: i64, separator: char) -> String {
    let time = seconds.rem_euclid(SECONDS_PER_DAY);
    // The days of any number of microseconds fit.
    let date = date_text(seconds.div_euclid(SECONDS_PER_DAY) as i32);
    format!("{date}{separator}{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60)
}
