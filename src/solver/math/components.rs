//! Connected components of a graph.

/// Computes connected components by union-find: `edges` are pairs of `count` nodes. Returns for each node the
/// smallest node of its component.
pub(crate) fn connected_components(
    count: usize,
    edges: impl Iterator<Item = [usize; 2]>,
) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for [a, b] in edges {
        let [a, b] = [root(&mut parent, a), root(&mut parent, b)];
        parent[a.max(b)] = a.min(b);
    }
    for i in 0..count {
        parent[i] = root(&mut parent, i);
    }
    parent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_nodes_are_in_one_component() {
        let edges = [[3, 1], [4, 5], [1, 6], [5, 4]];
        assert_eq!(
            connected_components(7, edges.into_iter()),
            [0, 1, 2, 1, 4, 4, 1]
        );
        assert_eq!(connected_components(2, [[0, 1]].into_iter()), [0, 0]);
        assert!(connected_components(0, [].into_iter()).is_empty());
    }
}
