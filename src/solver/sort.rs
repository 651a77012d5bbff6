//! Sorts long lists of what belongs to particles.

/// Sorts a list whose order begins with a number below `count`, such as that of a particle: first by
/// that number, in one go, then what has the same one, which is little. The result is that of
/// `sort_unstable`.
pub(crate) fn sort_near<T: Copy + Ord>(list: &mut [T], count: usize, number: impl Fn(&T) -> u32) {
    let Some(&any) = list.first() else { return };
    let mut first = vec![0_u32; count + 1];
    for item in &*list {
        first[number(item) as usize + 1] += 1;
    }
    for i in 0..count {
        first[i + 1] += first[i];
    }
    let mut sorted = vec![any; list.len()];
    for &item in &*list {
        let place = &mut first[number(&item) as usize];
        sorted[*place as usize] = item;
        *place += 1;
    }
    list.copy_from_slice(&sorted);
    // Now `first` holds where each number ends.
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
    fn lists_come_out_as_from_any_other_sort() {
        for count in [1, 2, 50] {
            let mut list: Vec<(u32, u32)> =
                (0..200).map(|i| (i * i * 7 % count, i * 37 % 11)).collect();
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sort_near(&mut list, count as usize, |&(number, _)| number);
            assert_eq!(list, sorted);
        }
        sort_near(&mut [], 0, |&(number, _): &(u32, u32)| number);
    }
}
