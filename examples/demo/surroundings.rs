//! Detects whether this machine has a display and a graphics adapter.

use bevy::tasks::block_on;

/// Checks whether a window can be opened. Returns the reason if not.
#[cfg(target_os = "linux")]
pub(crate) fn display() -> Result<(), String> {
    use std::{
        env,
        net::TcpStream,
        os::{
            linux::net::SocketAddrExt,
            unix::net::{SocketAddr, UnixStream},
        },
    };
    let name = env::var("DISPLAY").unwrap_or_default();
    if name.is_empty() {
        return Err("no display (DISPLAY is not set)".into());
    }
    let unreachable = || format!("display {name} does not respond");
    // host:number.screen, where no host means a local socket.
    let (host, rest) = name.rsplit_once(':').ok_or_else(unreachable)?;
    let number: u16 = rest
        .split('.')
        .next()
        .and_then(|n| n.parse().ok())
        .ok_or_else(unreachable)?;
    let reachable = if host.is_empty() || host == "unix" {
        let path = format!("/tmp/.X11-unix/X{number}");
        let in_abstract_namespace = SocketAddr::from_abstract_name(&path)
            .and_then(|address| UnixStream::connect_addr(&address));
        in_abstract_namespace.is_ok() || UnixStream::connect(&path).is_ok()
    } else {
        TcpStream::connect((host, 6000_u16.saturating_add(number))).is_ok()
    };
    reachable.then_some(()).ok_or_else(unreachable)
}

/// Checks whether a window can be opened: other platforms always have a desktop.
#[cfg(not(target_os = "linux"))]
pub(crate) fn display() -> Result<(), String> {
    Ok(())
}

/// Returns the name of a graphics adapter, if there is one. Software adapters count.
pub(crate) fn adapter() -> Option<String> {
    // Same query as Bevy's, which panics without an adapter.
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(descriptor);
    let adapter = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    Some(adapter.ok()?.get_info().name)
}

/// Returns the message about a missing adapter, with a remedy.
pub(crate) fn adapter_remedy() -> &'static str {
    if cfg!(target_os = "linux") {
        "no graphics adapter: simulating without rendering; for rendering install a Vulkan driver \
         (software: apt install mesa-vulkan-drivers libvulkan1)"
    } else {
        "no graphics adapter: simulating without rendering; for rendering install the driver of your \
         graphics card"
    }
}
