//! Nodes along one side of a grid.

/// Nodes of a level along rows or columns, and their interpolation weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeAxis {
    /// Index of each node's particle along the side.
    pub(super) nodes: Vec<u32>,
    /// For each particle, or node of the next finer level: the node at or before it, and the weight of the
    /// node after it, 0 to 1.
    pub(super) between: Vec<(u32, f32)>,
}

impl NodeAxis {
    /// Places nodes at the ends of `cells` cells of equal length, as far as particles allow, along a side of
    /// `length` particles; `finer` are the particles, or the nodes of the finer level, to be interpolated. The
    /// nodes are symmetric about the middle, so that the cloth is not skewed.
    pub(super) fn new(length: usize, cells: usize, finer: impl Iterator<Item = u32>) -> Self {
        let last = length - 1;
        let node = |i: usize| ((i * last + cells / 2) / cells) as u32;
        let nodes: Vec<u32> = (0..=cells).map(node).collect();
        let mut node = 0;
        let between = finer
            .map(|particle| {
                while node + 2 < nodes.len() && nodes[node + 1] <= particle {
                    node += 1;
                }
                let [from, to] = [nodes[node], nodes[node + 1]];
                (node as u32, (particle - from) as f32 / (to - from) as f32)
            })
            .collect();
        Self { nodes, between }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}
