//! serde for values shared in an `Arc`. After loading, each owner has its own copy.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

pub(crate) fn serialize<T: Serialize, S: Serializer>(
    value: &Arc<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    T::serialize(value, to)
}

pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Arc<T>, D::Error> {
    T::deserialize(from).map(Arc::new)
}

/// The same for optional values.
pub(crate) mod option {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Arc<T>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(to)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        let value: Option<T> = Deserialize::deserialize(from)?;
        Ok(value.map(Arc::new))
    }
}
