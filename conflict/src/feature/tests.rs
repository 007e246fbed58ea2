use super::*;
use crate::testing::actions;
use log_core::action::Action;

fn protocol(text: &str) -> Protocol {
    let [Action::Protocol(protocol)] = &actions(text)[..] else { panic!("{text}") };
    protocol.clone()
}

#[test]
fn a_feature_is_listed_or_implied() {
    let both = |text: &str, feature: &str| (lists(&protocol(text), feature), supports(&protocol(text), feature));
    assert_eq!(both("protocol:1,7,rowTracking", ROW_TRACKING), (true, true));
    assert_eq!(both("protocol:1,7,rowTracking", COLUMN_MAPPING), (false, false));
    assert_eq!(both("protocol:2,5", COLUMN_MAPPING), (false, true));
    let readers = Protocol { reader_features: Some(vec!["x".to_owned()]), ..protocol("protocol:1,7") };
    assert!(lists(&readers, "x"));
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(missing(&protocol("protocol:1,7,a"), &protocol("protocol:1,7,c,a,b")), ["b", "c"]);
    assert!(missing(&protocol("protocol:1,7,a,b"), &protocol("protocol:1,7,a")).is_empty());
}

#[test]
fn each_client_has_its_features() {
    let check = |text: &str, contend: bool, spark: bool| {
        let protocol = protocol(text);
        assert_eq!(Client::Contend.check(&protocol).is_ok(), contend, "{text}");
        assert_eq!(Client::DeltaSpark.check(&protocol).is_ok(), spark, "{text}");
    };
    check("protocol:1,2", true, true);
    check("protocol:1,7,neverHeardOfIt", false, false);
    check("protocol:2,6", false, true);
    check("protocol:3,7,checkpointProtection,identityColumns", false, true);
    check("protocol:1,7,icebergCompatV3,variantType-preview,variantShredding-preview", false, true);
    check("protocol:3,8", false, false);
    check("protocol:4,7", false, false);
    let message = Client::DeltaSpark.check(&protocol("protocol:3,7,a,b,rowTracking")).unwrap_err().to_string();
    assert!(message.contains("the features a, b, which Delta Spark 4 does not"), "{message}");
    let message = Client::DeltaSpark.check(&protocol("protocol:4,7,a")).unwrap_err().to_string();
    assert!(message.contains("reader version 4 and writer version 7"), "{message}");
}
