// words.rs - threads, channels and a panic that is caught.
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

fn main() {
    let (send, receive) = mpsc::channel();
    for t in 0..4u64 {
        let send = send.clone();
        thread::spawn(move || {
            for i in 0..2000u64 {
                send.send((i * 7919 + t) % 97).unwrap();
            }
        });
    }
    drop(send);
    let mut counts = BTreeMap::new();
    for word in receive {
        *counts.entry(word).or_insert(0) += 1;
    }
    println!("{} {:?}", counts.len(), counts.iter().next());
    let caught = thread::spawn(|| { let v: Vec<i32> = vec![]; v[counts_len()] }).join();
    println!("{}", caught.is_err());
}

fn counts_len() -> usize {
    3
}
