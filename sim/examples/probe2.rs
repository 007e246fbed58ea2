//! Probe.
use std::sync::Arc;
use conflict::rules::RuleSet;
use sim::{scenario, world::{Clock, Granularity, Setting}};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let overrides: Vec<_> = args[1..].iter().map(|a| { let (k, v) = a.split_once('=').unwrap(); (k.to_string(), v.to_string()) }).collect();
    let s = scenario::load(&args[0], &overrides, &|p| std::fs::read_to_string(p)).unwrap();
    let setting = Arc::new(Setting::new(s, RuleSet::delta_spark(), String::new(), Clock::Virtual, Granularity::Needs).unwrap());
    let t = std::time::Instant::now();
    let w = sim::walk::walk(&setting, 0..1000, 2, &|_| true).unwrap().unwrap();
    println!("{:?} {:?} {:?}", t.elapsed(), w.outcomes, w.ends);
    println!("{:?} {:?} {:?} p50 {:?} p99 {:?} orphans {} rules {:?} faults {:?} viol {:?}", w.puts, w.wasted, w.useful, w.latency_ms(500), w.latency_ms(990), w.orphans, w.rules, w.faults, w.violations);
}
