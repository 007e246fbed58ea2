//! Probe.
use conflict::rules::RuleSet;
use sim::{
    explore::WorldModel,
    scenario,
    search::{Limits, explore},
    world::{Clock, Granularity, Setting},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::Arc,
    time::Instant,
};
fn main() {
    for arg in std::env::args().skip(1) {
        let overrides = vec![];
        let s = scenario::load(&arg, &overrides, &|p| std::fs::read_to_string(p)).unwrap();
        let setting = Setting::new(
            s,
            RuleSet::delta_spark(),
            String::new(),
            Clock::PerCall,
            if std::env::var("G").as_deref() == Ok("puts") {
                Granularity::Puts
            } else if std::env::var("G").as_deref() == Ok("requests") {
                Granularity::Requests
            } else {
                Granularity::Points
            },
        )
        .unwrap();
        let setting = match std::env::var("F") {
            Ok(f) => {
                let (n, k) = f.split_once(':').unwrap_or((&f, ""));
                let kinds: Vec<_> = k
                    .split(',')
                    .filter(|k| !k.is_empty())
                    .map(|k| *sim::world::FaultKind::ALL.iter().find(|x| x.name() == k).unwrap())
                    .collect();
                setting.with_faults(sim::world::FaultBudget::of_mix(n.parse().unwrap(), &kinds))
            }
            Err(_) => setting,
        };
        let setting = match std::env::var("W") {
            Ok(w) => setting.without(&w).unwrap(),
            Err(_) => setting,
        };
        let t = Instant::now();
        let mut model = WorldModel::new(Arc::new(setting)).unwrap();
        let e = explore(&mut model, Limits { memory_bytes: 4 << 30 }, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut out: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for end in &e.ends {
            let c = model.committed(end);
            let f = model.contents(end);
            out.entry(c).or_default().insert(format!("{f:?}"));
        }
        println!(
            "{arg}: {} states, {} transitions, {} ends, depth {}, {:?}, exhausted {} bytes {}",
            e.states,
            e.transitions,
            e.ends.len(),
            e.depth,
            t.elapsed(),
            e.exhausted,
            e.bytes
        );
        for (c, f) in &out {
            println!("  {c}: {}", f.len());
        }
        for (k, v) in &e.violations {
            println!("  {k}: {:?} len {}", v.violation.message, v.schedule.len());
        }
        let expect = arg.replace(".toml", ".expect.json");
        if let Ok(text) = std::fs::read_to_string(&expect) {
            let v: serde_json::Value = serde_json::from_str(&text).unwrap();
            let committed: Vec<u64> = v["committed"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
            let got: Vec<u64> = out.keys().map(|x| *x as u64).collect();
            let want: BTreeSet<String> = v["finals_sha256"]
                .as_array()
                .unwrap()
                .iter()
                .map(|x| format!("{:?}", BTreeMap::from([("t".to_string(), x.as_str().unwrap().to_string())])))
                .collect();
            let have: BTreeSet<String> = out.values().flatten().cloned().collect();
            println!("  committed {} finals {}", committed == got, want == have);
        }
    }
}
