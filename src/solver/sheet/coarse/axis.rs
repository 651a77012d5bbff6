//! Nodes along one side of a sheet.

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Axis {
    /// Where the nodes are, in particles.
    pub(super) nodes: Vec<u32>,
    /// For each particle, or node of the next finer level: the node at or before it, and its place
    /// on the way to the next one, 0 to 1.
    pub(super) between: Vec<(u32, f32)>,
}

impl Axis {
    /// Nodes at both ends of so many cells of the same length, as far as particles allow; `finer` are
    /// the places that they move. From both sides it looks the same, or else cloth would be skew.
    pub(super) fn new(length: usize, cells: usize, finer: impl Iterator<Item = u32>) -> Self {
        let last = length - 1;
        let node = |i: usize| ((i * last + cells / 2) / cells) as u32;
        let nodes: Vec<u32> = (0..=cells).map(node).collect();
        let mut node = 0;
        let between = finer
            .map(|place| {
                while node + 2 < nodes.len() && nodes[node + 1] <= place {
                    node += 1;
                }
                let way = (place - nodes[node]) as f32 / (nodes[node + 1] - nodes[node]) as f32;
                (node as u32, way)
            })
            .collect();
        Self { nodes, between }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }
}
