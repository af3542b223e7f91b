//! What is measured: commands of plyd that do the same work in every build.

/// What is measured of a command.
#[derive(Clone, Copy)]
enum Work {
    /// How many nodes a second one thread searches, of so many.
    Nodes(u64),
    /// How long something takes that ends by itself. One argument, such as a depth, has a smaller form for
    /// counting instructions, as callgrind is some fifty times slower; none where that would be too small.
    Time(Option<[&'static str; 2]>),
}

/// A row of the report.
pub(crate) struct Workload {
    pub name: &'static str,
    args: &'static [&'static str],
    work: Work,
}

/// What callgrind counts of a search by nodes: what so many take more than so many, as starting is no part of
/// it.
const COUNTED: [&str; 2] = ["600000", "100000"];

/// About a second each on a machine of 2025, and less than that where much of it is the same code.
pub(crate) const WORKLOADS: &[Workload] = &[
    nodes("isolation 11x9", &["go", "isolation", "--rules", "preset=11x9"], 30_000_000),
    nodes("isolation 9x9", &["go", "isolation", "--rules", "width=9,height=9"], 30_000_000),
    nodes("isolation 9x7", &["go", "isolation", "--rules", "width=9,height=7"], 30_000_000),
    nodes("colosseum 6", &["go", "colosseum", "--rules", "size=6"], 16_000_000),
    nodes("colosseum 8", &["go", "colosseum", "--rules", "size=8"], 12_000_000),
    nodes("colosseum 10", &["go", "colosseum", "--rules", "size=10"], 10_000_000),
    nodes("colosseum 12", &["go", "colosseum", "--rules", "size=12"], 6_000_000),
    nodes("ijk 4x4", &["go", "ijk", "--rules", "size=4"], 12_000_000),
    nodes("ijk 6x6", &["go", "ijk", "--rules", "size=6"], 12_000_000),
    nodes("ijk 4x4, chance", &["go", "ijk", "--rules", "size=4,mode=nondet"], 12_000_000),
    nodes("sudoku 3x3", &["go", "sudoku"], 8_000_000),
    nodes("sudoku 4x4", &["go", "sudoku", "--rules", "m=4,n=4"], 2_000_000),
    nodes(
        "tree, isolation 11x9",
        &["go", "isolation", "--rules", "preset=11x9", "--option", "player=tree"],
        600_000,
    ),
    nodes("tree, sudoku 3x3", &["go", "sudoku", "--option", "player=tree"], 300_000),
    time(
        "depth 17, isolation 11x9",
        &["go", "isolation", "--rules", "preset=11x9", "--depth", "17"],
        Some(["17", "11"]),
    ),
    time("depth 7, colosseum 8", &["go", "colosseum", "--depth", "7"], Some(["7", "5"])),
    time("depth 24, ijk 4x4", &["go", "ijk", "--rules", "size=4", "--depth", "24"], Some(["24", "16"])),
    time("depth 7, sudoku 3x3", &["go", "sudoku", "--depth", "7"], Some(["7", "4"])),
    time("solve, isolation 6x6", &["solve", "isolation", "--board", "6x6"], Some(["6x6", "5x5"])),
    time("perft, isolation 11x9", &["perft", "isolation", "8", "--rules", "preset=11x9"], Some(["8", "6"])),
    time("perft, colosseum 8", &["perft", "colosseum", "5"], Some(["5", "4"])),
    time("perft, ijk 6x6", &["perft", "ijk", "13", "--rules", "size=6"], Some(["13", "10"])),
    time("perft, sudoku 3x3", &["perft", "sudoku", "3"], None),
    time("perft, l-game", &["perft", "l-game", "4"], Some(["4", "3"])),
];

const fn nodes(name: &'static str, args: &'static [&'static str], count: u64) -> Workload {
    Workload { name, args, work: Work::Nodes(count) }
}

const fn time(
    name: &'static str,
    args: &'static [&'static str],
    smaller: Option<[&'static str; 2]>,
) -> Workload {
    Workload { name, args, work: Work::Time(smaller) }
}

impl Workload {
    /// The nodes that are searched, where that is what is measured.
    pub(crate) fn nodes(&self) -> Option<u64> {
        match self.work {
            Work::Nodes(count) => Some(count),
            Work::Time(_) => None,
        }
    }

    /// The command whose CPU time is measured.
    pub(crate) fn whole(&self) -> Vec<String> {
        let nodes = self.nodes().map(|count| count.to_string());
        self.command(nodes.as_deref(), |argument| argument)
    }

    /// The command whose instructions are counted, and the one whose instructions are taken off, if any; none
    /// where nothing is counted.
    pub(crate) fn counted(&self) -> Option<(Vec<String>, Option<Vec<String>>)> {
        match self.work {
            Work::Nodes(_) => {
                let [more, less] = COUNTED.map(|nodes| self.command(Some(nodes), |argument| argument));
                Some((more, Some(less)))
            }
            Work::Time(smaller) => {
                let [whole, smaller] = smaller?;
                Some((
                    self.command(None, |argument| if argument == whole { smaller } else { argument }),
                    None,
                ))
            }
        }
    }

    fn command(&self, nodes: Option<&str>, change: impl Fn(&'static str) -> &'static str) -> Vec<String> {
        let mut command: Vec<String> = self.args.iter().map(|argument| change(argument).to_owned()).collect();
        if let Some(nodes) = nodes {
            command.extend(["--nodes", nodes].map(str::to_owned));
        }
        if command[0] == "go" {
            command.extend(["--option", "threads=1"].map(str::to_owned));
        }
        command
    }
}
