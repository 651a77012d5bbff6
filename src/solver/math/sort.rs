//! Sorting of long lists of per-particle items.

/// Sorts a list with an order that begins with a key below `count`, such as a particle index: a counting sort by
/// that key, then a comparison sort of the few items with the same key. The result is that of `sort_unstable`.
pub(crate) fn sort_by_particle<T: Copy + Ord>(
    list: &mut [T],
    count: usize,
    key: impl Fn(&T) -> u32,
) {
    let Some(&any) = list.first() else { return };
    let mut first = vec![0_u32; count + 1];
    for item in &*list {
        first[key(item) as usize + 1] += 1;
    }
    for i in 0..count {
        first[i + 1] += first[i];
    }
    let mut sorted = vec![any; list.len()];
    for &item in &*list {
        let slot = &mut first[key(&item) as usize];
        sorted[*slot as usize] = item;
        *slot += 1;
    }
    list.copy_from_slice(&sorted);
    // Now `first` holds the end of each key.
    let mut begin = 0;
    for &end in &first[..count] {
        list[begin..end as usize].sort_unstable();
        begin = end as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_that_of_sort_unstable() {
        for count in [1, 2, 50] {
            let mut list: Vec<(u32, u32)> =
                (0..200).map(|i| (i * i * 7 % count, i * 37 % 11)).collect();
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sort_by_particle(&mut list, count as usize, |&(key, _)| key);
            assert_eq!(list, sorted);
        }
        sort_by_particle(&mut [], 0, |&(key, _): &(u32, u32)| key);
    }
}
