use expect_test::{Expect, expect};
use log_core::{
    expression::Expression,
    schema::{DataType, Field, PrimitiveType, Schema},
    value::Value,
};

use super::{super::parse_statement, *};
use crate::sql::bound::{Aggregate, BoundBody, BoundInsert, BoundQuery, BoundSelect};

const CONSTANTS: Constants = Constants { now_us: 1_719_403_200_000_001 };

fn schema() -> Schema {
    let field = |name: &str, data_type: &str, nullable| Field {
        name: name.to_owned(),
        data_type: DataType::Primitive(data_type.parse().unwrap()),
        nullable,
        metadata: Default::default(),
    };
    Schema {
        fields: vec![
            field("id", "integer", false),
            field("name", "string", true),
            field("big", "long", true),
            field("small", "short", true),
            field("price", "decimal(10,2)", true),
            field("ratio", "double", true),
            field("f", "float", true),
            field("ok", "boolean", true),
            field("day", "date", true),
            field("at", "timestamp", true),
            field("bytes", "binary", true),
        ],
    }
}

/// An expression as text in which every type shows.
fn show(expression: &Expression) -> String {
    let list = |items: &[Expression]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    match expression {
        Expression::Column { index, name, data_type } => format!("{name}#{index}:{data_type}"),
        Expression::Literal { value: Value::Null, data_type } => format!("NULL:{data_type}"),
        Expression::Literal { value: Value::Decimal { unscaled, scale, .. }, data_type } => {
            format!("{unscaled}e-{scale}:{data_type}")
        }
        Expression::Literal { value, .. } => format!("{value:?}"),
        Expression::Not(x) => format!("NOT({})", show(x)),
        Expression::Negate(x) => format!("-({})", show(x)),
        Expression::IsNull(x) => format!("IsNull({})", show(x)),
        Expression::Binary { operator, left, right } => format!("({} {operator:?} {})", show(left), show(right)),
        Expression::In { value, list: items } => format!("{} In [{}]", show(value), list(items)),
        Expression::Like { value, pattern, escape, ignore_case } => {
            let operator = if *ignore_case { "ILike" } else { "Like" };
            format!("{} {operator}({escape:?}) {}", show(value), show(pattern))
        }
        Expression::Case { branches, otherwise } => {
            let branches: Vec<_> = branches.iter().map(|(c, v)| format!("{} -> {}", show(c), show(v))).collect();
            format!("Case[{}; {}]", branches.join(", "), show(otherwise))
        }
        Expression::Cast { value, to, lenient } => {
            format!("{}({} as {to})", if *lenient { "TryCast" } else { "Cast" }, show(value))
        }
        Expression::Function { function, arguments } => format!("{function:?}({})", list(arguments)),
    }
}

fn try_bind(text: &str) -> Result<Bound, SqlError> {
    let statement = parse_statement(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    bind(&statement, &schema(), &CONSTANTS).map_err(|error| error.with_text(text))
}

fn select(text: &str) -> (BoundQuery, BoundSelect) {
    match try_bind(text) {
        Ok(Bound::Select(query)) => match query.body.clone() {
            BoundBody::Select(select) => (query, *select),
            other => panic!("{text}: {other:?}"),
        },
        other => panic!("{text}: {other:?}"),
    }
}

/// Each line's expression and what it is bound to, with the type of the whole.
fn check(lines: &str, expected: Expect) {
    let mut shown = String::new();
    for text in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let text = format!("SELECT {text} FROM t");
        let bound = match try_bind(&text) {
            Ok(Bound::Select(query)) => match &query.body {
                BoundBody::Select(select) => format!("{}: {}", show(&select.items[0]), query.output[0].1),
                other => panic!("{text}: {other:?}"),
            },
            Ok(other) => panic!("{text}: {other:?}"),
            Err(error) => error.to_string(),
        };
        shown.push_str(&format!("{}\n    {bound}\n", &text["SELECT ".len()..text.len() - " FROM t".len()]));
    }
    expected.assert_eq(&shown);
}

#[test]
fn literals_have_the_types_of_spark() {
    check(
        "1
         -2147483648
         2147483648
         -9223372036854775808
         9223372036854775808
         1L
         -1L
         1.5
         -0.25
         001.50
         1e3
         123456789012345678901234567890123456789
         99999999999999999999L
         'it''s'
         X'1fA0'
         X'1'
         true
         NULL
         - -5
         -(5)
         ?",
        expect![[r#"
            1
                Integer(1): integer
            -2147483648
                Integer(-2147483648): integer
            2147483648
                Long(2147483648): long
            -9223372036854775808
                Long(-9223372036854775808): long
            9223372036854775808
                9223372036854775808e-0:decimal(19,0): decimal(19,0)
            1L
                Long(1): long
            -1L
                Long(-1): long
            1.5
                15e-1:decimal(2,1): decimal(2,1)
            -0.25
                -25e-2:decimal(2,2): decimal(2,2)
            001.50
                150e-2:decimal(3,2): decimal(3,2)
            1e3
                Double(1000.0): double
            123456789012345678901234567890123456789
                the number 123456789012345678901234567890123456789 has more than 38 digits at line 1, column 8
            99999999999999999999L
                99999999999999999999L is not a long at line 1, column 8
            'it''s'
                String("it's"): string
            X'1fA0'
                Binary([31, 160]): binary
            X'1'
                X'1' is not pairs of hex digits at line 1, column 8
            true
                Boolean(true): boolean
            NULL
                NULL:string: string
            - -5
                Integer(5): integer
            -(5)
                Integer(-5): integer
            ?
                the parameter ? is not supported by this version at line 1, column 8
        "#]],
    );
}

#[test]
fn operands_meet_in_a_common_type() {
    check(
        "id + 1
         small + 1
         id + big
         id + 1L
         id + f
         id * 1.5
         price + 1
         price + id
         price * ratio
         price / 3
         id / 2
         f / 2
         id DIV 2
         price DIV 2
         id % 2
         id + NULL
         NULL + NULL
         -id
         +id
         -name
         -NULL
         id + name
         ok + 1
         id = 1
         big = 1
         1 = big
         small = 100000
         small = 1
         1 <> small
         1 = 1L
         price > 1.5
         f = 0.5
         id = 1.0
         id = big
         id = ratio
         price = 1
         price > 1.255
         f = 1
         f = id
         id = NULL
         NULL = NULL
         id = ok
         id = bytes
         name = bytes
         day = at
         name || id
         id <=> NULL
         id == 1
         id <> 1
         id != 1
         a.b.c = 1",
        expect![[r#"
            id + 1
                (id#0:integer Add Integer(1)): integer
            small + 1
                (Cast(small#3:short as integer) Add Integer(1)): integer
            id + big
                (Cast(id#0:integer as long) Add big#2:long): long
            id + 1L
                (Cast(id#0:integer as long) Add Long(1)): long
            id + f
                (Cast(id#0:integer as double) Add Cast(f#6:float as double)): double
            id * 1.5
                (Cast(id#0:integer as decimal(10,0)) Multiply 15e-1:decimal(2,1)): decimal(13,1)
            price + 1
                (price#4:decimal(10,2) Add 1e-0:decimal(1,0)): decimal(11,2)
            price + id
                (price#4:decimal(10,2) Add Cast(id#0:integer as decimal(10,0))): decimal(13,2)
            price * ratio
                (Cast(price#4:decimal(10,2) as double) Multiply ratio#5:double): double
            price / 3
                (price#4:decimal(10,2) Divide 3e-0:decimal(1,0)): decimal(14,6)
            id / 2
                (Cast(id#0:integer as double) Divide Double(2.0)): double
            f / 2
                (Cast(f#6:float as double) Divide Double(2.0)): double
            id DIV 2
                (Cast(id#0:integer as long) IntegerDivide Long(2)): long
            price DIV 2
                `DIV` needs integers, but divides decimal(10,2) by integer; use CAST at line 1, column 8
            id % 2
                (id#0:integer Remainder Integer(2)): integer
            id + NULL
                (id#0:integer Add NULL:integer): integer
            NULL + NULL
                NULL:string: string
            -id
                -(id#0:integer): integer
            +id
                id#0:integer: integer
            -name
                `-` needs a number, but `name` is string; use CAST at line 1, column 9
            -NULL
                NULL:string: string
            id + name
                `+` needs numbers, but `name` is string; use CAST at line 1, column 13
            ok + 1
                `+` needs numbers, but `ok` is boolean; use CAST at line 1, column 8
            id = 1
                (id#0:integer Equal Integer(1)): boolean
            big = 1
                (big#2:long Equal Long(1)): boolean
            1 = big
                (Long(1) Equal big#2:long): boolean
            small = 100000
                (Cast(small#3:short as integer) Equal Integer(100000)): boolean
            small = 1
                (small#3:short Equal Short(1)): boolean
            1 <> small
                (Short(1) NotEqual small#3:short): boolean
            1 = 1L
                (Long(1) Equal Long(1)): boolean
            price > 1.5
                (price#4:decimal(10,2) Greater 150e-2:decimal(10,2)): boolean
            f = 0.5
                (Cast(f#6:float as double) Equal Double(0.5)): boolean
            id = 1.0
                (Cast(id#0:integer as decimal(11,1)) Equal 10e-1:decimal(11,1)): boolean
            id = big
                (Cast(id#0:integer as long) Equal big#2:long): boolean
            id = ratio
                (Cast(id#0:integer as double) Equal ratio#5:double): boolean
            price = 1
                (price#4:decimal(10,2) Equal 100e-2:decimal(10,2)): boolean
            price > 1.255
                (Cast(price#4:decimal(10,2) as decimal(11,3)) Greater 1255e-3:decimal(11,3)): boolean
            f = 1
                (f#6:float Equal Float(1.0)): boolean
            f = id
                (Cast(f#6:float as double) Equal Cast(id#0:integer as double)): boolean
            id = NULL
                (id#0:integer Equal NULL:integer): boolean
            NULL = NULL
                (NULL:boolean Equal NULL:boolean): boolean
            id = ok
                cannot compare `id` (integer) with `ok` (boolean); use CAST at line 1, column 8
            id = bytes
                cannot compare `id` (integer) with `bytes` (binary); use CAST at line 1, column 8
            name = bytes
                cannot compare `name` (string) with `bytes` (binary); use CAST at line 1, column 8
            day = at
                (Cast(day#8:date as timestamp) Equal at#9:timestamp): boolean
            name || id
                Concat(name#1:string, Cast(id#0:integer as string)): string
            id <=> NULL
                (id#0:integer NullSafeEqual NULL:integer): boolean
            id == 1
                (id#0:integer Equal Integer(1)): boolean
            id <> 1
                (id#0:integer NotEqual Integer(1)): boolean
            id != 1
                (id#0:integer NotEqual Integer(1)): boolean
            a.b.c = 1
                a name of more than two parts is not supported by this version at line 1, column 8
        "#]],
    );
}

#[test]
fn strings_take_the_type_of_the_other_side() {
    check(
        "day = '2024-06-26'
         '2024-06-26' < day
         at >= '2024-06-26 12:00:00'
         id = '12'
         id = 'x'
         day = 'x'
         name = id
         name = 1
         day IN ('2024-06-26', name)
         day BETWEEN '2024-01-01' AND '2024-12-31'
         DATE '2024-06-26'
         DATE '2024-13-26'
         TIMESTAMP '2024-06-26 12:00:00'
         TIMESTAMP_NTZ '2024-06-26 12:00:00'",
        expect![[r#"
            day = '2024-06-26'
                (day#8:date Equal Date(19900)): boolean
            '2024-06-26' < day
                (Date(19900) Less day#8:date): boolean
            at >= '2024-06-26 12:00:00'
                (at#9:timestamp GreaterOrEqual Timestamp(1719403200000000)): boolean
            id = '12'
                (id#0:integer Equal Integer(12)): boolean
            id = 'x'
                'x' is not a value of type integer at line 1, column 13
            day = 'x'
                'x' is not a value of type date at line 1, column 14
            name = id
                (Cast(name#1:string as integer) Equal id#0:integer): boolean
            name = 1
                (Cast(name#1:string as integer) Equal Integer(1)): boolean
            day IN ('2024-06-26', name)
                day#8:date In [Date(19900), Cast(name#1:string as date)]: boolean
            day BETWEEN '2024-01-01' AND '2024-12-31'
                ((day#8:date GreaterOrEqual Date(19723)) And (day#8:date LessOrEqual Date(20088))): boolean
            DATE '2024-06-26'
                Date(19900): date
            DATE '2024-13-26'
                '2024-13-26' is not a value of type date at line 1, column 13
            TIMESTAMP '2024-06-26 12:00:00'
                Timestamp(1719403200000000): timestamp
            TIMESTAMP_NTZ '2024-06-26 12:00:00'
                TimestampNtz(1719403200000000): timestamp_ntz
        "#]],
    );
}

#[test]
fn dates_and_intervals() {
    check(
        "day + 1
         1 + day
         day - 1
         day - id
         day - small
         day + big
         day - day
         1 - day
         at + 1
         day + INTERVAL 1 DAY
         INTERVAL 1 DAY + day
         day - INTERVAL '2' WEEKS
         day + INTERVAL 1 MONTH
         day - INTERVAL 2 YEARS
         day + INTERVAL 3 HOURS
         day + INTERVAL '1 month 2 days 3 hours'
         at - INTERVAL 24 HOURS
         at - INTERVAL -24 HOURS
         at + -INTERVAL 1 DAY
         at + INTERVAL 5 MILLISECONDS
         at + INTERVAL 1 MICROSECOND
         at + INTERVAL 1 MONTH
         at + INTERVAL 1.5 HOURS
         at + INTERVAL 1 FORTNIGHT
         at + INTERVAL 1
         at + INTERVAL 9223372036854775807 HOURS
         day + INTERVAL 9223372036854775807 DAYS
         INTERVAL 1 DAY
         id + INTERVAL 1 DAY
         INTERVAL 1 DAY IS NULL
         current_timestamp()
         current_timestamp
         now() - INTERVAL 1 SECOND
         current_date()
         current_date
         current_timestamp(3)",
        expect![[r#"
            day + 1
                DateAdd(day#8:date, Integer(1)): date
            1 + day
                DateAdd(day#8:date, Integer(1)): date
            day - 1
                DateAdd(day#8:date, Integer(-1)): date
            day - id
                DateAdd(day#8:date, -(id#0:integer)): date
            day - small
                DateAdd(day#8:date, -(Cast(small#3:short as integer))): date
            day + big
                `+` takes a date and days, or a date or timestamp and an INTERVAL, but `day` is date and `big` is long at line 1, column 8
            day - day
                `-` takes a date and days, or a date or timestamp and an INTERVAL, but `day` is date and `day` is date at line 1, column 8
            1 - day
                `-` takes a date and days, or a date or timestamp and an INTERVAL, but `1` is integer and `day` is date at line 1, column 8
            at + 1
                `+` takes a date and days, or a date or timestamp and an INTERVAL, but `at` is timestamp and `1` is integer at line 1, column 8
            day + INTERVAL 1 DAY
                DateAdd(day#8:date, Integer(1)): date
            INTERVAL 1 DAY + day
                DateAdd(day#8:date, Integer(1)): date
            day - INTERVAL '2' WEEKS
                DateAdd(day#8:date, Integer(-14)): date
            day + INTERVAL 1 MONTH
                AddMonths(day#8:date, Integer(1)): date
            day - INTERVAL 2 YEARS
                AddMonths(day#8:date, Integer(-24)): date
            day + INTERVAL 3 HOURS
                AddMicroseconds(Cast(day#8:date as timestamp), Long(10800000000)): timestamp
            day + INTERVAL '1 month 2 days 3 hours'
                AddMicroseconds(Cast(DateAdd(AddMonths(day#8:date, Integer(1)), Integer(2)) as timestamp), Long(10800000000)): timestamp
            at - INTERVAL 24 HOURS
                AddMicroseconds(at#9:timestamp, Long(-86400000000)): timestamp
            at - INTERVAL -24 HOURS
                AddMicroseconds(at#9:timestamp, Long(86400000000)): timestamp
            at + -INTERVAL 1 DAY
                AddMicroseconds(at#9:timestamp, Long(-86400000000)): timestamp
            at + INTERVAL 5 MILLISECONDS
                AddMicroseconds(at#9:timestamp, Long(5000)): timestamp
            at + INTERVAL 1 MICROSECOND
                AddMicroseconds(at#9:timestamp, Long(1)): timestamp
            at + INTERVAL 1 MONTH
                months and years on a timestamp are not supported by this version; use days, or add_months on a date at line 1, column 22
            at + INTERVAL 1.5 HOURS
                an INTERVAL needs a whole number of units, not '1.5' at line 1, column 26
            at + INTERVAL 1 FORTNIGHT
                `FORTNIGHT` is not a unit of INTERVAL: those are years, months, weeks, days, hours, minutes, seconds, milliseconds and microseconds at line 1, column 24
            at + INTERVAL 1
                an INTERVAL needs a unit, as in INTERVAL 2 HOURS at line 1, column 22
            at + INTERVAL 9223372036854775807 HOURS
                the INTERVAL is too long at line 1, column 42
            day + INTERVAL 9223372036854775807 DAYS
                the INTERVAL is too long at line 1, column 23
            INTERVAL 1 DAY
                an INTERVAL can only be added to or subtracted from a date or timestamp at line 1, column 17
            id + INTERVAL 1 DAY
                `+` takes a date and days, or a date or timestamp and an INTERVAL, but `id` is integer and `INTERVAL 1 DAY` is interval at line 1, column 8
            INTERVAL 1 DAY IS NULL
                an INTERVAL can only be added to or subtracted from a date or timestamp at line 1, column 17
            current_timestamp()
                Timestamp(1719403200000001): timestamp
            current_timestamp
                Timestamp(1719403200000001): timestamp
            now() - INTERVAL 1 SECOND
                AddMicroseconds(Timestamp(1719403200000001), Long(-1000000)): timestamp
            current_date()
                Date(19900): date
            current_date
                Date(19900): date
            current_timestamp(3)
                current_timestamp takes no argument, not 1 at line 1, column 8
        "#]],
    );
}

#[test]
fn predicates() {
    check(
        "ok AND NOT ok OR id = 1
         !ok
         ok AND id
         NOT id
         ok AND NULL
         id IS NULL
         id IS NOT NULL
         ok IS TRUE
         ok IS NOT FALSE
         ok IS UNKNOWN
         id IS TRUE
         id IS DISTINCT FROM big
         id IS NOT DISTINCT FROM NULL
         id IN (1, 2L, NULL)
         id NOT IN (1)
         id IN (ok)
         small IN (1, 2)
         small IN (1, 100000)
         small IN (100000, 1)
         price IN (1, 2.5)
         1 IN (id, small)
         1 IN ('1', 2)
         NULL IN (1)
         id BETWEEN 1 AND big
         id NOT BETWEEN 1 AND 2
         name LIKE 'a%'
         name NOT LIKE 'a!%' ESCAPE '!'
         name ILIKE 'A_'
         name LIKE 'a' ESCAPE 'xy'
         name LIKE 'a' ESCAPE ''
         id LIKE '1%'
         name RLIKE 'a'
         name LIKE ANY ('a', 'b')
         (id, big) = (1, 2)
         id = ANY (1)
         id & 1
         name COLLATE x
         at AT TIME ZONE 'UTC'",
        expect![[r#"
            ok AND NOT ok OR id = 1
                ((ok#7:boolean And NOT(ok#7:boolean)) Or (id#0:integer Equal Integer(1))): boolean
            !ok
                NOT(ok#7:boolean): boolean
            ok AND id
                an operand of AND must be boolean, but `id` is integer; compare it with something at line 1, column 15
            NOT id
                the operand of NOT must be boolean, but `id` is integer; compare it with something at line 1, column 12
            ok AND NULL
                (ok#7:boolean And NULL:boolean): boolean
            id IS NULL
                IsNull(id#0:integer): boolean
            id IS NOT NULL
                NOT(IsNull(id#0:integer)): boolean
            ok IS TRUE
                (ok#7:boolean NullSafeEqual Boolean(true)): boolean
            ok IS NOT FALSE
                NOT((ok#7:boolean NullSafeEqual Boolean(false))): boolean
            ok IS UNKNOWN
                IsNull(ok#7:boolean): boolean
            id IS TRUE
                the operand of IS TRUE or IS FALSE must be boolean, but `id` is integer; compare it with something at line 1, column 8
            id IS DISTINCT FROM big
                NOT((Cast(id#0:integer as long) NullSafeEqual big#2:long)): boolean
            id IS NOT DISTINCT FROM NULL
                (id#0:integer NullSafeEqual NULL:integer): boolean
            id IN (1, 2L, NULL)
                id#0:integer In [Integer(1), Integer(2), NULL:integer]: boolean
            id NOT IN (1)
                NOT(id#0:integer In [Integer(1)]): boolean
            id IN (ok)
                IN cannot compare `id` (integer) with `ok` (boolean); use CAST at line 1, column 15
            small IN (1, 2)
                small#3:short In [Short(1), Short(2)]: boolean
            small IN (1, 100000)
                Cast(small#3:short as integer) In [Integer(1), Integer(100000)]: boolean
            small IN (100000, 1)
                Cast(small#3:short as integer) In [Integer(100000), Integer(1)]: boolean
            price IN (1, 2.5)
                price#4:decimal(10,2) In [100e-2:decimal(10,2), 250e-2:decimal(10,2)]: boolean
            1 IN (id, small)
                Integer(1) In [id#0:integer, Cast(small#3:short as integer)]: boolean
            1 IN ('1', 2)
                Integer(1) In [Integer(1), Integer(2)]: boolean
            NULL IN (1)
                NULL:integer In [Integer(1)]: boolean
            id BETWEEN 1 AND big
                ((id#0:integer GreaterOrEqual Integer(1)) And (Cast(id#0:integer as long) LessOrEqual big#2:long)): boolean
            id NOT BETWEEN 1 AND 2
                NOT(((id#0:integer GreaterOrEqual Integer(1)) And (id#0:integer LessOrEqual Integer(2)))): boolean
            name LIKE 'a%'
                name#1:string Like('\\') String("a%"): boolean
            name NOT LIKE 'a!%' ESCAPE '!'
                NOT(name#1:string Like('!') String("a!%")): boolean
            name ILIKE 'A_'
                name#1:string ILike('\\') String("A_"): boolean
            name LIKE 'a' ESCAPE 'xy'
                ESCAPE takes a string of one character at line 1, column 29
            name LIKE 'a' ESCAPE ''
                ESCAPE takes a string of one character at line 1, column 29
            id LIKE '1%'
                Cast(id#0:integer as string) Like('\\') String("1%"): boolean
            name RLIKE 'a'
                RLIKE is not supported by this version at line 1, column 8
            name LIKE ANY ('a', 'b')
                LIKE ANY is not supported by this version at line 1, column 8
            (id, big) = (1, 2)
                a list in parentheses as a value is not supported by this version at line 1, column 9
            id = ANY (1)
                the expression `id = ANY(1)` is not supported by this version at line 1, column 8
            id & 1
                the operator & is not supported by this version at line 1, column 8
            name COLLATE x
                the expression `name COLLATE x` is not supported by this version at line 1, column 8
            at AT TIME ZONE 'UTC'
                the expression `at AT TIME ZONE 'UTC'` is not supported by this version at line 1, column 8
        "#]],
    );
}

#[test]
fn casts_and_cases() {
    check(
        "CAST(id AS BIGINT)
         CAST(id AS int)
         CAST(1 AS LONG)
         CAST(300 AS TINYINT)
         CAST(name AS DATE)
         CAST('2024-06-26' AS DATE)
         CAST('x' AS DATE)
         TRY_CAST('x' AS INT)
         TRY_CAST(name AS DECIMAL(5, 1))
         id::STRING
         CAST(NULL AS DATE)
         CAST(day AS INT)
         CAST(id AS UUID)
         CAST(id AS DOUBLE PRECISION)
         CAST(id AS VARCHAR(10))
         CAST(id AS INT(4))
         CASE id WHEN 1 THEN 'a' WHEN 2 THEN 'b' END
         CASE WHEN ok THEN 1 ELSE 2L END
         CASE WHEN ok THEN NULL ELSE price END
         CASE WHEN ok THEN NULL END
         CASE WHEN id THEN 1 END
         CASE WHEN ok THEN 1 ELSE 'a' END
         CASE name WHEN 1 THEN 2 END
         IF(ok, 1, 1.5)
         if(id, 1, 2)",
        expect![[r#"
            CAST(id AS BIGINT)
                Cast(id#0:integer as long): long
            CAST(id AS int)
                id#0:integer: integer
            CAST(1 AS LONG)
                Long(1): long
            CAST(300 AS TINYINT)
                Cast(Integer(300) as byte): byte
            CAST(name AS DATE)
                Cast(name#1:string as date): date
            CAST('2024-06-26' AS DATE)
                Date(19900): date
            CAST('x' AS DATE)
                Cast(String("x") as date): date
            TRY_CAST('x' AS INT)
                TryCast(String("x") as integer): integer
            TRY_CAST(name AS DECIMAL(5, 1))
                TryCast(name#1:string as decimal(5,1)): decimal(5,1)
            id::STRING
                Cast(id#0:integer as string): string
            CAST(NULL AS DATE)
                NULL:date: date
            CAST(day AS INT)
                CAST cannot bring `day` (date) to integer at line 1, column 13
            CAST(id AS UUID)
                the type UUID is not supported by this version at line 1, column 13
            CAST(id AS DOUBLE PRECISION)
                the type DOUBLE PRECISION is not supported by this version at line 1, column 13
            CAST(id AS VARCHAR(10))
                Cast(id#0:integer as string): string
            CAST(id AS INT(4))
                the type INT(4) is not supported by this version at line 1, column 13
            CASE id WHEN 1 THEN 'a' WHEN 2 THEN 'b' END
                Case[(id#0:integer Equal Integer(1)) -> String("a"), (id#0:integer Equal Integer(2)) -> String("b"); NULL:string]: string
            CASE WHEN ok THEN 1 ELSE 2L END
                Case[ok#7:boolean -> Long(1); Long(2)]: long
            CASE WHEN ok THEN NULL ELSE price END
                Case[ok#7:boolean -> NULL:decimal(10,2); price#4:decimal(10,2)]: decimal(10,2)
            CASE WHEN ok THEN NULL END
                NULL:string: string
            CASE WHEN id THEN 1 END
                the condition of WHEN must be boolean, but `id` is integer; compare it with something at line 1, column 18
            CASE WHEN ok THEN 1 ELSE 'a' END
                the branches of CASE have no common type: integer, and string for `'a'`; use CAST at line 1, column 33
            CASE name WHEN 1 THEN 2 END
                Case[(Cast(name#1:string as integer) Equal Integer(1)) -> Integer(2); NULL:integer]: integer
            IF(ok, 1, 1.5)
                Case[ok#7:boolean -> 10e-1:decimal(11,1); 15e-1:decimal(11,1)]: decimal(11,1)
            if(id, 1, 2)
                the condition of IF must be boolean, but `id` is integer; compare it with something at line 1, column 11
        "#]],
    );
}

#[test]
fn functions() {
    check(
        "coalesce(id, 1L, NULL)
         COALESCE(NULL, NULL)
         coalesce()
         ifnull(name, 'x')
         nvl(name)
         nvl(name, 1)
         nullif(id, 1)
         nullif(id, 1L)
         greatest(id, big, 1)
         least(id)
         abs(price)
         abs(name)
         upper(name)
         lower(id)
         length(name)
         trim(name)
         concat(name, id, 'x')
         substring(name, 2)
         substr(name, 2, 3)
         substring(name, 'x')
         date_add(day, 1)
         date_add('2024-06-26', 1)
         date_add(at, small)
         date_sub(current_date(), 1)
         add_months(day, -1)
         year(at)
         month(day)
         dayofmonth(day)
         year(id)
         uper(name)
         avg(id)
         something(id)
         count(DISTINCT id)
         upper(*)
         coalesce(count(*), 1) + sum(id)",
        expect![[r#"
            coalesce(id, 1L, NULL)
                Coalesce(Cast(id#0:integer as long), Long(1), NULL:long): long
            COALESCE(NULL, NULL)
                NULL:string: string
            coalesce()
                coalesce takes at least one argument, not 0 at line 1, column 8
            ifnull(name, 'x')
                Coalesce(name#1:string, String("x")): string
            nvl(name)
                nvl takes 2 arguments, not 1 at line 1, column 8
            nvl(name, 1)
                the arguments of nvl have no common type: string, and integer for `1`; use CAST at line 1, column 18
            nullif(id, 1)
                NullIf(id#0:integer, Integer(1)): integer
            nullif(id, 1L)
                NullIf(id#0:integer, Integer(1)): integer
            greatest(id, big, 1)
                Greatest(Cast(id#0:integer as long), big#2:long, Long(1)): long
            least(id)
                least takes at least 2 arguments, not 1 at line 1, column 8
            abs(price)
                Abs(price#4:decimal(10,2)): decimal(10,2)
            abs(name)
                abs needs a number, but `name` is string; use CAST at line 1, column 12
            upper(name)
                Upper(name#1:string): string
            lower(id)
                Lower(Cast(id#0:integer as string)): string
            length(name)
                Length(name#1:string): integer
            trim(name)
                Trim(name#1:string): string
            concat(name, id, 'x')
                Concat(name#1:string, Cast(id#0:integer as string), String("x")): string
            substring(name, 2)
                Substring(name#1:string, Integer(2)): string
            substr(name, 2, 3)
                Substring(name#1:string, Integer(2), Integer(3)): string
            substring(name, 'x')
                substring needs an integer, but `'x'` is string; use CAST at line 1, column 24
            date_add(day, 1)
                DateAdd(day#8:date, Integer(1)): date
            date_add('2024-06-26', 1)
                DateAdd(Date(19900), Integer(1)): date
            date_add(at, small)
                DateAdd(Cast(at#9:timestamp as date), Cast(small#3:short as integer)): date
            date_sub(current_date(), 1)
                DateAdd(Date(19900), Integer(-1)): date
            add_months(day, -1)
                AddMonths(day#8:date, Integer(-1)): date
            year(at)
                Year(Cast(at#9:timestamp as date)): integer
            month(day)
                Month(day#8:date): integer
            dayofmonth(day)
                Day(day#8:date): integer
            year(id)
                year needs a date, but `id` is integer; use CAST at line 1, column 13
            uper(name)
                unknown function `uper`; did you mean `upper`? at line 1, column 8
            avg(id)
                unknown function `avg` at line 1, column 8
            something(id)
                unknown function `something` at line 1, column 8
            count(DISTINCT id)
                count(DISTINCT ...) is not supported by this version at line 1, column 8
            upper(*)
                the argument `*` of upper is not supported by this version at line 1, column 8
            coalesce(count(*), 1) + sum(id)
                (Coalesce(count(*)#0:long, Long(1)) Add sum(id)#1:long): long
        "#]],
    );
}

#[test]
fn names() {
    check(
        "ID
         `Id`
         t.id
         T.ID
         x.id
         idd
         nonsense
         db.t.id",
        expect![[r#"
            ID
                id#0:integer: integer
            `Id`
                id#0:integer: integer
            t.id
                id#0:integer: integer
            T.ID
                id#0:integer: integer
            x.id
                unknown table `x`: only `t` at line 1, column 8
            idd
                unknown column `idd`; did you mean `id`? (columns: id, name, big, small, price, ratio, f, ok, day, at, bytes) at line 1, column 8
            nonsense
                unknown column `nonsense` (columns: id, name, big, small, price, ratio, f, ok, day, at, bytes) at line 1, column 8
            db.t.id
                a name of more than two parts is not supported by this version at line 1, column 8
        "#]],
    );
    for (text, expected) in [
        ("SELECT t.id FROM t AS u", "unknown table `t`: only `u` at line 1, column 8"),
        ("SELECT id", "unknown column `id`: the query has no FROM at line 1, column 8"),
        ("SELECT *", "`*` needs a table: the query has no FROM"),
        ("UPDATE t u SET id = t.id", "unknown table `t`: only `u` at line 1, column 21"),
        (
            "DELETE FROM t WHERE\n idd = 1",
            "unknown column `idd`; did you mean `id`? (columns: id, name, big, small, price, ratio, f, ok, day, at, bytes) at line 2, column 2",
        ),
    ] {
        assert_eq!(try_bind(text).expect_err(text).to_string(), expected, "{text}");
    }
    let (query, _) = select("SELECT ID, big + 1, name AS Other, u.* FROM t u");
    let names: Vec<_> = query.output.iter().map(|(name, _)| name.as_str()).take(5).collect();
    assert_eq!(names, ["id", "big + 1", "Other", "id", "name"]);
}

/// What is said of each statement that cannot be bound.
fn refuse(texts: &[&str], expected: Expect) {
    let mut errors = String::new();
    for text in texts {
        errors.push_str(&format!("{text}\n    {}\n", try_bind(text).expect_err(text)));
    }
    expected.assert_eq(&errors);
}

fn insert(text: &str) -> String {
    let list = |values: &[Expression]| values.iter().take(5).map(show).collect::<Vec<_>>().join(", ");
    match try_bind(text) {
        Ok(Bound::Insert(BoundInsert::Values(rows))) => rows.iter().map(|row| list(row)).collect::<Vec<_>>().join("; "),
        Ok(Bound::Insert(BoundInsert::Query { columns, .. })) => list(&columns),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn values_take_the_types_of_their_columns() {
    for (text, expected) in [
        (
            "INSERT INTO t (price, id, big) VALUES (1, 2L, 3), (1.5, 5000000000, DEFAULT)",
            "Integer(2), NULL:string, Long(3), NULL:short, 100e-2:decimal(10,2); \
             Cast(Long(5000000000) as integer), NULL:string, NULL:long, NULL:short, 150e-2:decimal(10,2)",
        ),
        (
            "INSERT INTO t (ID, name) VALUES (1.5, 7)",
            "Cast(15e-1:decimal(2,1) as integer), Cast(Integer(7) as string), NULL:long, NULL:short, NULL:decimal(10,2)",
        ),
        (
            "INSERT INTO t (id, big) SELECT big, NULL FROM t VERSION AS OF 3",
            "Cast(big#0:long as integer), NULL:string, NULL:long, NULL:short, NULL:decimal(10,2)",
        ),
        (
            "INSERT INTO t SELECT * FROM t",
            "id#0:integer, name#1:string, big#2:long, small#3:short, price#4:decimal(10,2)",
        ),
    ] {
        assert_eq!(insert(text), expected, "{text}");
    }
}

#[test]
fn what_a_table_cannot_take_is_refused() {
    refuse(
        &[
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t (id) VALUES (1), (1, 2)",
            "INSERT INTO t (id, name) SELECT id FROM t",
            "INSERT INTO t (idd) VALUES (1)",
            "INSERT INTO t (id, ID) VALUES (1, 2)",
            "INSERT INTO t (name) VALUES ('x')",
            "INSERT INTO t (id) VALUES (NULL)",
            "INSERT INTO t (id) VALUES (DEFAULT)",
            "INSERT INTO t (id) SELECT NULL FROM t",
            "INSERT INTO t (id) VALUES ('1')",
            "INSERT INTO t (id, day) VALUES (1, '2024-06-26')",
            "INSERT INTO t (id, at) VALUES (1, 5)",
            "INSERT INTO t (id, ok) VALUES (1, 1)",
            "INSERT INTO t (id) VALUES (name)",
            "INSERT INTO t (id) VALUES (count(*))",
            "INSERT INTO t (id) SELECT id FROM other",
            "UPDATE t SET idd = 1",
            "UPDATE t SET id = 1, ID = 2",
            "UPDATE t SET id = NULL",
            "UPDATE t SET id = name",
            "UPDATE t SET id = count(*)",
            "UPDATE t SET id = 1 WHERE id",
            "UPDATE t SET id = 1 WHERE sum(id) = 1",
            "DELETE FROM t WHERE name",
            "CREATE TABLE x (a INT)",
        ],
        expect![[r#"
            INSERT INTO t VALUES (1)
                the table `t` has 11 columns, but the row has 1 value at line 1, column 23
            INSERT INTO t (id) VALUES (1), (1, 2)
                the INSERT names 1 column, but row 2 has 2 values at line 1, column 33
            INSERT INTO t (id, name) SELECT id FROM t
                the INSERT names 2 columns, but the query has 1 value at line 1, column 33
            INSERT INTO t (idd) VALUES (1)
                unknown column `idd`; did you mean `id`? (columns: id, name, big, small, price, ratio, f, ok, day, at, bytes)
            INSERT INTO t (id, ID) VALUES (1, 2)
                the column `ID` stands twice in the INSERT
            INSERT INTO t (name) VALUES ('x')
                the column `id` is NOT NULL, but the INSERT gives no value for it
            INSERT INTO t (id) VALUES (NULL)
                the column `id` is NOT NULL, but the value is NULL at line 1, column 28
            INSERT INTO t (id) VALUES (DEFAULT)
                the column `id` is NOT NULL, but the value is NULL
            INSERT INTO t (id) SELECT NULL FROM t
                the column `id` is NOT NULL, but the value is NULL at line 1, column 27
            INSERT INTO t (id) VALUES ('1')
                the column `id` is integer, but the value is string; use CAST at line 1, column 28
            INSERT INTO t (id, day) VALUES (1, '2024-06-26')
                the column `day` is date, but the value is string; use CAST at line 1, column 36
            INSERT INTO t (id, at) VALUES (1, 5)
                the column `at` is timestamp, but the value is integer; use CAST at line 1, column 35
            INSERT INTO t (id, ok) VALUES (1, 1)
                the column `ok` is boolean, but the value is integer; use CAST at line 1, column 35
            INSERT INTO t (id) VALUES (name)
                unknown column `name`: the VALUES of an INSERT read no table at line 1, column 28
            INSERT INTO t (id) VALUES (count(*))
                the aggregate count cannot stand in VALUES at line 1, column 28
            INSERT INTO t (id) SELECT id FROM other
                an INSERT into `t` that reads another table (`other`) is not supported by this version
            UPDATE t SET idd = 1
                unknown column `idd`; did you mean `id`? (columns: id, name, big, small, price, ratio, f, ok, day, at, bytes) at line 1, column 20
            UPDATE t SET id = 1, ID = 2
                the column `ID` is assigned twice at line 1, column 27
            UPDATE t SET id = NULL
                the column `id` is NOT NULL, but the value is NULL at line 1, column 19
            UPDATE t SET id = name
                the column `id` is integer, but the value is string; use CAST at line 1, column 19
            UPDATE t SET id = count(*)
                the aggregate count cannot stand in UPDATE at line 1, column 19
            UPDATE t SET id = 1 WHERE id
                the condition of WHERE must be boolean, but `id` is integer; compare it with something at line 1, column 27
            UPDATE t SET id = 1 WHERE sum(id) = 1
                the aggregate sum cannot stand in WHERE at line 1, column 27
            DELETE FROM t WHERE name
                the condition of WHERE must be boolean, but `name` is string; compare it with something at line 1, column 21
            CREATE TABLE x (a INT)
                CREATE TABLE has no names to bind
        "#]],
    );
}

#[test]
fn update_and_delete() {
    let Ok(Bound::Update(update)) =
        try_bind("UPDATE t x SET big = x.id + 1, day = at, T = 1 WHERE x.ok".replace(", T = 1", "").as_str())
    else {
        panic!()
    };
    let shown: Vec<_> = update.assignments.iter().map(|value| value.as_ref().map_or("-".to_owned(), show)).collect();
    assert_eq!(
        shown.join(" | "),
        "- | - | Cast((id#0:integer Add Integer(1)) as long) | - | - | - | - | - | Cast(at#9:timestamp as date) | - | -"
    );
    assert_eq!(show(&update.predicate.unwrap()), "ok#7:boolean");
    let Ok(Bound::Delete(delete)) = try_bind("DELETE FROM t") else { panic!() };
    assert_eq!(delete.predicate, None);
    let Ok(Bound::Delete(delete)) = try_bind("DELETE FROM t WHERE NULL") else { panic!() };
    assert_eq!(delete.predicate.map(|x| show(&x)).unwrap(), "NULL:boolean");
}

#[test]
fn aggregates_become_columns_of_one_row() {
    let (query, body) = select(
        "SELECT count(*) + 1, 2, sum(id + 1) AS s, max(name), count(*) FROM t WHERE ok ORDER BY min(big), s LIMIT 3",
    );
    let items: Vec<_> = body.items.iter().chain(&body.hidden).map(show).collect();
    assert_eq!(
        items.join(" | "),
        "(count(*)#0:long Add Long(1)) | Integer(2) | sum(id + 1)#1:long | max(name)#2:string | count(*)#0:long | min(big)#3:long"
    );
    let aggregates = body.aggregates.unwrap();
    assert_eq!(aggregates.len(), 4);
    assert_eq!(aggregates[0], Aggregate::CountRows);
    assert!(matches!(&aggregates[1], Aggregate::Sum(x) if show(x) == "(id#0:integer Add Integer(1))"));
    let keys: Vec<_> = query.order_by.iter().map(|key| show(&key.expression)).collect();
    assert_eq!(keys, ["min(big)#5:long", "s#2:long"]);
    assert_eq!(query.limit, Some(3));
    assert_eq!(query.output[0], ("count(*) + 1".to_owned(), PrimitiveType::Long));
}

#[test]
fn order_by_names_outputs_first() {
    let keys = |text: &str| {
        let (query, body) = select(text);
        let keys: Vec<_> = query.order_by.iter().map(|key| show(&key.expression)).collect();
        (keys.join(" | "), body.hidden.iter().map(show).collect::<Vec<_>>().join(" | "))
    };
    for (text, order, hidden) in [
        ("SELECT id, big FROM t ORDER BY 2 DESC", "big#1:long", ""),
        ("SELECT -id AS big FROM t ORDER BY big", "big#0:integer", ""),
        ("SELECT id FROM t ORDER BY big, id", "big#1:long | id#0:integer", "big#2:long"),
        ("SELECT id + 1 FROM t ORDER BY id + 1", "id + 1#0:integer", ""),
        ("SELECT id AS x, big AS id FROM t ORDER BY id", "id#1:long", ""),
        (
            "SELECT id FROM t ORDER BY t.big + 1, t.big + 1",
            "t.big + 1#1:long | t.big + 1#1:long",
            "(big#2:long Add Long(1))",
        ),
        ("SELECT DISTINCT id FROM t ORDER BY ID", "id#0:integer", ""),
        ("SELECT sum(id) AS big FROM t ORDER BY max(big)", "max(big)#1:long", "max(big)#1:long"),
        ("SELECT NULL AS n FROM t ORDER BY n", "n#0:string", ""),
    ] {
        assert_eq!(keys(text), (order.to_owned(), hidden.to_owned()), "{text}");
    }
    let (query, _) = select("SELECT id FROM t ORDER BY id, 1 DESC, id ASC NULLS LAST, 1 DESC NULLS FIRST");
    let nulls: Vec<_> = query.order_by.iter().map(|key| (key.descending, key.nulls_first)).collect();
    assert_eq!(nulls, [(false, true), (true, false), (false, false), (true, true)]);
}

#[test]
fn set_operations_widen() {
    let Ok(Bound::Select(query)) = try_bind(
        "SELECT id, NULL FROM t UNION SELECT 2L, price FROM t@v1 EXCEPT ALL SELECT small, 1 FROM t ORDER BY 1, ID + 1",
    ) else {
        panic!()
    };
    let output: Vec<_> = query.output.iter().map(|(name, data_type)| format!("{name}: {data_type}")).collect();
    assert_eq!(output, ["id: long", "NULL: decimal(12,2)"]);
    let keys: Vec<_> = query.order_by.iter().map(|key| show(&key.expression)).collect();
    assert_eq!(keys, ["id#0:long", "(id#0:long Add Long(1))"]);
    fn items(body: &BoundBody) -> Vec<String> {
        match body {
            BoundBody::Select(select) => {
                vec![format!("{:?} {}", select.from, select.items.iter().map(show).collect::<Vec<_>>().join(", "))]
            }
            BoundBody::SetOperation { left, right, .. } => items(left).into_iter().chain(items(right)).collect(),
        }
    }
    expect![[r#"
        [
            "Snapshot Cast(id#0:integer as long), NULL:decimal(12,2)",
            "Version(1) Long(2), Cast(price#4:decimal(10,2) as decimal(12,2))",
            "Snapshot Cast(small#3:short as long), 100e-2:decimal(12,2)",
        ]
    "#]]
    .assert_debug_eq(&items(&query.body));
}

#[test]
fn queries_that_mean_nothing_are_refused() {
    refuse(
        &[
            "SELECT id, count(*) FROM t",
            "SELECT *, count(*) FROM t",
            "SELECT count(*) FROM t ORDER BY id",
            "SELECT sum(count(*)) FROM t",
            "SELECT sum(name) FROM t",
            "SELECT count(id, big) FROM t",
            "SELECT max(*) FROM t",
            "SELECT id FROM t WHERE count(*) = 1",
            "SELECT id FROM t WHERE id + 1",
            "SELECT id FROM t ORDER BY 2",
            "SELECT id FROM t ORDER BY 0",
            "SELECT id AS a, big AS a FROM t ORDER BY a",
            "SELECT DISTINCT id FROM t ORDER BY big",
            "SELECT id FROM t UNION SELECT id, big FROM t",
            "SELECT id FROM t UNION SELECT name FROM t",
            "SELECT id FROM t UNION SELECT id FROM t ORDER BY big",
            "SELECT id FROM t UNION SELECT id FROM t ORDER BY count(*)",
            "SELECT id FROM t UNION SELECT id FROM other",
        ],
        expect![[r#"
            SELECT id, count(*) FROM t
                the column `id` stands beside an aggregate: put it inside one (GROUP BY is not supported by this version) at line 1, column 8
            SELECT *, count(*) FROM t
                the column `id` stands beside an aggregate: put it inside one (GROUP BY is not supported by this version)
            SELECT count(*) FROM t ORDER BY id
                the column `id` stands beside an aggregate: put it inside one (GROUP BY is not supported by this version) at line 1, column 33
            SELECT sum(count(*)) FROM t
                the aggregate count stands inside another aggregate at line 1, column 12
            SELECT sum(name) FROM t
                sum needs a number, but `name` is string; use CAST at line 1, column 12
            SELECT count(id, big) FROM t
                count takes one argument, not 2 at line 1, column 8
            SELECT max(*) FROM t
                max takes one argument, not 1 at line 1, column 8
            SELECT id FROM t WHERE count(*) = 1
                the aggregate count cannot stand in WHERE at line 1, column 24
            SELECT id FROM t WHERE id + 1
                the condition of WHERE must be boolean, but `id + 1` is integer; compare it with something at line 1, column 24
            SELECT id FROM t ORDER BY 2
                ORDER BY 2 is no output column: the query has 1 at line 1, column 27
            SELECT id FROM t ORDER BY 0
                ORDER BY 0 is no output column: the query has 1 at line 1, column 27
            SELECT id AS a, big AS a FROM t ORDER BY a
                `a` is the name of more than one output column at line 1, column 42
            SELECT DISTINCT id FROM t ORDER BY big
                with DISTINCT, ORDER BY can only name output columns, not `big` at line 1, column 36
            SELECT id FROM t UNION SELECT id, big FROM t
                the sides of UNION have 1 and 2 columns at line 1, column 31
            SELECT id FROM t UNION SELECT name FROM t
                the sides of UNION have integer and string in the column `id`; use CAST at line 1, column 31
            SELECT id FROM t UNION SELECT id FROM t ORDER BY big
                unknown column `big` (columns: id) at line 1, column 50
            SELECT id FROM t UNION SELECT id FROM t ORDER BY count(*)
                the aggregate count cannot stand in the ORDER BY of a set operation at line 1, column 50
            SELECT id FROM t UNION SELECT id FROM other
                a query that reads two tables (`t` and `other`) is not supported by this version at line 1, column 8
        "#]],
    );
}

#[test]
fn a_predicate_is_bound_alone() {
    let bind = |text| bind_predicate(text, &schema(), &CONSTANTS);
    assert_eq!(
        show(&bind("id > 0 AND name IS NOT NULL").unwrap()),
        "((id#0:integer Greater Integer(0)) And NOT(IsNull(name#1:string)))"
    );
    for (text, expected) in [
        ("id", "the predicate must be boolean, but `id` is integer; compare it with something at line 1, column 1"),
        ("id >", "expected an expression, found the end at line 1, column 5"),
        ("id > 0 id", "expected the end of the expression, found `id` at line 1, column 8"),
        ("id > 0; id", "expected the end of the expression, found `;` at line 1, column 7"),
        ("t.id > 0", "unknown table `t`: the columns have no qualifier here at line 1, column 1"),
        ("count(*) > 0", "the aggregate count cannot stand here at line 1, column 1"),
        ("", "expected an expression, found the end at line 1, column 1"),
    ] {
        let error = bind(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
        assert_eq!(error.text, text);
    }
}

#[test]
fn depth_is_bounded_and_length_is_not_depth() {
    let chain = format!("id = 0{}", " OR id = 1".repeat(190));
    bind_predicate(&chain, &schema(), &CONSTANTS).unwrap();
    let casts = format!("id{} = 1", "::int".repeat(100));
    assert!(bind_predicate(&casts, &schema(), &CONSTANTS).unwrap_err().message.contains("nested too deeply"));
    let list = format!("id IN (0{})", ", 1".repeat(10_000));
    bind_predicate(&list, &schema(), &CONSTANTS).unwrap();
}

/// Statements put together from words at random: parsed and bound, or refused with a position in the text, but no panic.
#[test]
fn no_text_panics() {
    const WORDS: &[&str] = &[
        "SELECT",
        "FROM",
        "t",
        "WHERE",
        "id",
        "name",
        "big",
        "price",
        "day",
        "at",
        "ok",
        "f",
        "1",
        "2.5",
        "'x'",
        "'2024-01-01'",
        "NULL",
        "(",
        ")",
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "=",
        "<",
        "<=>",
        "AND",
        "OR",
        "NOT",
        "IS",
        "IN",
        "BETWEEN",
        "LIKE",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST(",
        "AS",
        "INT",
        "DATE",
        "INTERVAL",
        "DAYS",
        "::",
        "count(",
        "sum(",
        "coalesce(",
        "if(",
        "nullif(",
        "UNION",
        "EXCEPT",
        "ORDER BY",
        "LIMIT",
        "DESC",
        "INSERT INTO t",
        "VALUES",
        "UPDATE t SET",
        "DELETE FROM t",
        "||",
        "DIV",
        "VERSION AS OF",
        "@",
        ".",
        "`",
        "[",
        ":",
        ";",
        "date_add(",
        "TRUE",
        "1e400",
        "9223372036854775808",
        "-",
        "表",
    ];
    let schema = schema();
    let mut state = 20_240_626_u64;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut bound = 0;
    for _ in 0..20_000 {
        let start =
            ["SELECT", "SELECT id +", "DELETE FROM t WHERE", "UPDATE t SET big =", "INSERT INTO t (id) VALUES (", ""]
                [next(6)];
        let words: Vec<&str> = (0..next(9)).map(|_| WORDS[next(WORDS.len())]).collect();
        let text = format!("{start} {}", words.join(" "));
        match parse_statement(&text) {
            Ok(statement) => bound += usize::from(bind(&statement, &schema, &CONSTANTS).is_ok()),
            Err(error) => assert!(error.line > 0 && error.snippet().is_some(), "{text}: {error}"),
        }
    }
    assert!(bound > 100, "only {bound} statements were bound");
}
