//! A store in memory.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::{Answer, Bytes, ObjectMeta, Request, WriteAnswer};

/// Objects by path. Cloning is cheap; a clone that is written to becomes a map of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ObjectMap {
    objects: Arc<BTreeMap<String, Object>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Object {
    bytes: Bytes,
    modified_ms: i64,
}

impl ObjectMap {
    /// Does what a request says, at once and entirely.
    pub fn answer(&mut self, request: &Request, now_ms: i64) -> Answer {
        match request {
            Request::List { after } => Answer::Listed(self.list(after)),
            Request::Head { path } => Answer::Meta(self.objects.get(path).map(|object| meta(path, object))),
            Request::Get { path } => Answer::Content(self.get(path)),
            Request::GetRange { path, start, end } => Answer::Content(self.get(path).map(|bytes| {
                let end = (*end as usize).min(bytes.len());
                let start = (*start as usize).min(end);
                bytes[start..end].into()
            })),
            Request::GetMany { paths } => Answer::Contents(paths.iter().map(|path| self.get(path)).collect()),
            Request::PutIfAbsent { path, bytes } => Answer::Write(if self.objects.contains_key(path) {
                WriteAnswer::AlreadyExists
            } else {
                self.put(path, bytes, now_ms)
            }),
            Request::Put { path, bytes } => Answer::Write(self.put(path, bytes, now_ms)),
            Request::Delete { path } => Answer::Write(match Arc::make_mut(&mut self.objects).remove(path) {
                Some(_) => WriteAnswer::Happened,
                None => WriteAnswer::DidNotHappen { cause: format!("there is no object '{path}'") },
            }),
            Request::Backoff { .. } => Answer::Waited,
        }
    }

    /// The content of an object.
    pub fn get(&self, path: &str) -> Option<Bytes> {
        self.objects.get(path).map(|object| object.bytes.clone())
    }

    /// Every path, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(String::as_str)
    }

    fn put(&mut self, path: &str, bytes: &Bytes, now_ms: i64) -> WriteAnswer {
        let object = Object { bytes: bytes.clone(), modified_ms: now_ms };
        Arc::make_mut(&mut self.objects).insert(path.to_owned(), object);
        WriteAnswer::Happened
    }

    fn list(&self, after: &str) -> Vec<ObjectMeta> {
        let folder = &after[..after.rfind('/').map_or(0, |slash| slash + 1)];
        self.objects
            .range::<str, _>((Bound::Excluded(after), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(folder))
            .filter(|(path, _)| !path[folder.len()..].contains('/'))
            .map(|(path, object)| meta(path, object))
            .collect()
    }
}

fn meta(path: &str, object: &Object) -> ObjectMeta {
    ObjectMeta { path: path.to_owned(), size: object.bytes.len() as u64, modified_ms: object.modified_ms }
}
