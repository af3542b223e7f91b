//! A folder for the files of a test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A new folder, which is removed when dropped.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
}

impl Folder {
    /// An empty folder, by a name that no other test uses.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plyd-{name}-{}", std::process::id()));
        let _none_yet = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a new folder");
        Self { path }
    }

    /// Writes a file that its owner alone can read; its path.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path.join(name);
        fs::write(&path, text).expect("a new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its owner may");
        path.to_str().expect("a path in UTF-8").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.path);
    }
}
