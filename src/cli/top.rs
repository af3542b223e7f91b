//! `plyd top`: what a daemon does, on the full screen, with keys that end sessions and connections.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use plyd_protocol::DisconnectTarget;

use super::failure::Failure;
use super::frame::Frame;
use super::input::{Input, Inputs, Signal};
use super::operator::{self, Operator, OperatorReply, Order, View};
use super::overview::{self, Row, Subject};
use super::parse;
use super::styled::{Colours, Style, Text, Tone};
use super::terminal::Terminal;

const KEYS: &str = "q leave, arrows choose, d disconnect, c close the session, r look now";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd top tcp=127.0.0.1:7117                      also ws=, tls=, wss=HOST:PORT and unix=PATH
  plyd top unix=/run/plyd/socket --token-file ops.token --every 500ms

Keys: q leaves, arrows choose a line, d ends its connection, c closes its session (each asks first), r looks at once. \
For scripts there are `plyd status`, `plyd disconnect` and `plyd close`.")]
pub(super) struct Args {
    #[command(flatten)]
    daemon: operator::Daemon,
    /// The time between two looks
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse::duration)]
    every: Duration,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let colours = Colours::of_terminal();
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || colours == Colours::Never {
        let message =
            "this needs a terminal with a full screen; `plyd status ADDR --watch` writes line by line";
        return Err(Failure::Usage(message.into()));
    }
    let mut operator = args.daemon.operator("plyd top")?;
    // What is wrong with the address or the token is seen before the terminal is taken.
    let first = operator.look()?;
    let mut inputs = Inputs::keys()?;
    let terminal = Terminal::enter()?;
    let mut top = Top::new(first, args.every.max(operator::SHORTEST_PAUSE), terminal.size());
    loop {
        while let Some((number, answer)) = operator.heard() {
            top.heard(number, answer);
        }
        while let Ok(signal) = inputs.signals.try_recv() {
            match signal {
                Signal::Interrupt | Signal::End => return Ok(()),
                Signal::Redraw => top.resize(terminal.size()),
            }
        }
        while let Ok(input) = inputs.input.try_recv() {
            match input {
                Input::Key(key) => match top.key(key, &mut operator) {
                    After::Stay => {}
                    After::Leave => return Ok(()),
                    After::Suspend => {
                        terminal.suspend()?;
                        top.resize(terminal.size());
                    }
                },
                Input::End => return Ok(()),
                Input::Line(_) | Input::Paste(_) | Input::Unreadable => {}
            }
        }
        top.look_if_due(&mut operator);
        let (rows, cols) = top.size;
        let lines = top.lines(rows);
        let lines = lines.iter().map(|line| line.cut(cols).written(colours)).collect();
        top.frame.draw(out, lines, None)?;
        inputs.wait(Some(operator.bell()), Some(top.next_look.saturating_duration_since(Instant::now())))?;
    }
}

/// What a key leads to.
enum After {
    Stay,
    Leave,
    /// The program stops as Ctrl-Z has it.
    Suspend,
}

/// What is shown.
struct Top {
    view: View,
    rows: Vec<Row>,
    /// When the view was new.
    seen: Instant,
    /// Since the view before.
    nodes_per_second: Option<u64>,
    every: Duration,
    /// When to look again at the earliest.
    next_look: Instant,
    /// The number of the look whose answer is still to come.
    looking: Option<u64>,
    /// Why the view is an old one.
    trouble: Option<String>,
    /// The index of the chosen row.
    chosen: Option<usize>,
    /// The index of the first row in the window.
    from: usize,
    /// What is to be ended if the person says so.
    question: Option<Order>,
    /// What is said of the last key.
    message: Option<Text>,
    frame: Frame,
    /// Rows and columns of the window.
    size: (usize, usize),
}

impl Top {
    fn new(view: View, every: Duration, size: (usize, usize)) -> Self {
        let now = Instant::now();
        let rows = overview::tables(&view);
        Self {
            view,
            rows,
            seen: now,
            nodes_per_second: None,
            every,
            next_look: now + every,
            looking: None,
            trouble: None,
            chosen: None,
            from: 0,
            question: None,
            message: None,
            frame: Frame::default(),
            size,
        }
    }

    fn resize(&mut self, size: (usize, usize)) {
        self.size = size;
        self.frame.forget();
    }

    /// Asks for a new view, if it is time.
    fn look_if_due(&mut self, operator: &mut Operator) {
        let now = Instant::now();
        if now < self.next_look {
            return;
        }
        self.next_look = now + self.every;
        match self.looking {
            Some(_) => {
                let seconds = self.seen.elapsed().as_secs();
                self.trouble = Some(format!("the last answer came {seconds} s ago"));
            }
            None => self.looking = Some(operator.send(Order::Look)),
        }
    }

    /// Takes the answer to the order of that number.
    fn heard(&mut self, number: u64, answer: Result<OperatorReply, String>) {
        let is_look = self.looking == Some(number);
        if is_look {
            self.looking = None;
        }
        match answer {
            Ok(OperatorReply::Seen(view)) => self.see(*view),
            Ok(OperatorReply::Closed) => self.done("the session is closed"),
            Ok(OperatorReply::Disconnected(connections)) => {
                let numbers: Vec<String> = connections.iter().map(u64::to_string).collect();
                self.done(&format!("ended connection {}", numbers.join(", ")));
            }
            Err(message) if is_look => self.trouble = Some(message),
            Err(message) => self.message = Some(Text::new(&message, Tone::Alarm)),
        }
    }

    fn done(&mut self, what: &str) {
        self.message = Some(Text::new(what, Tone::Strong));
        self.next_look = Instant::now();
    }

    fn see(&mut self, view: View) {
        let nodes = |view: &View| view.status.counters.nodes;
        let seconds = self.seen.elapsed().as_secs_f64().max(0.001);
        // A daemon that was started again counts from 0.
        let more = nodes(&view).checked_sub(nodes(&self.view));
        self.nodes_per_second = more.map(|more| (more as f64 / seconds) as u64);
        self.trouble = None;
        self.seen = Instant::now();
        let chosen = self.chosen.and_then(|index| self.rows[index].subject.clone());
        // What it asked about may have gone with a daemon, and its number be another's.
        if view.breaks != self.view.breaks && self.question.take().is_some() {
            self.message =
                Some(Text::new("the connection to the daemon broke: nothing was ended", Tone::Alarm));
        }
        self.view = view;
        self.rows = overview::tables(&self.view);
        self.choose_again(chosen);
    }

    /// Chooses what was chosen before; if it is gone, the line that has its place.
    fn choose_again(&mut self, subject: Option<Subject>) {
        let Some(subject) = subject else { return };
        let same = self.rows.iter().position(|row| row.subject.as_ref() == Some(&subject));
        let place = self.chosen.unwrap_or(0);
        let near = self.chooseable().rfind(|index| *index <= place);
        self.chosen = same.or(near);
    }

    /// The indices of the rows that are about something.
    fn chooseable(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.rows.iter().enumerate().filter(|(_, row)| row.subject.is_some()).map(|(index, _)| index)
    }

    fn key(&mut self, key: KeyEvent, operator: &mut Operator) -> After {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, control) {
            (KeyCode::Char('c'), true) => return After::Leave,
            (KeyCode::Char('z'), true) => return After::Suspend,
            (KeyCode::Char('l'), true) => self.frame.forget(),
            _ if self.question.is_some() => self.answer(key.code, operator),
            (KeyCode::Char('q') | KeyCode::Esc, _) => return After::Leave,
            (KeyCode::Up | KeyCode::Char('k'), _) => self.step(-1),
            (KeyCode::Down | KeyCode::Char('j'), _) => self.step(1),
            (KeyCode::PageUp, _) => self.step(-(self.room() as isize)),
            (KeyCode::PageDown, _) => self.step(self.room() as isize),
            (KeyCode::Home, _) => self.step(isize::MIN),
            (KeyCode::End, _) => self.step(isize::MAX),
            (KeyCode::Char('r'), _) => self.next_look = Instant::now(),
            (KeyCode::Char('d'), _) => {
                self.ask(|subject| Some(Order::Disconnect(DisconnectTarget::Connection(subject.connection))))
            }
            (KeyCode::Char('c'), _) => self.ask(|subject| {
                let Subject { connection, session, .. } = subject;
                Some(Order::Close { connection, session: session? })
            }),
            _ => {}
        }
        After::Stay
    }

    /// Goes on by so many rows that are about something.
    fn step(&mut self, by: isize) {
        let all: Vec<usize> = self.chooseable().collect();
        let Some(last) = all.len().checked_sub(1) else { return };
        let at = self.chosen.and_then(|chosen| all.iter().position(|index| *index == chosen));
        let next = match at {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by == isize::MAX => last,
            None => 0,
        };
        self.chosen = Some(all[next]);
        self.message = None;
    }

    /// Asks whether what is chosen is to be ended.
    fn ask(&mut self, order: impl FnOnce(Subject) -> Option<Order>) {
        let chosen = self.chosen.and_then(|index| self.rows.get(index)?.subject.clone());
        let Some(chosen) = chosen else {
            self.message = Some(Text::new("choose a line first, by the arrows", Tone::Alarm));
            return;
        };
        self.question = order(chosen);
        self.message = match self.question {
            Some(_) => None,
            None => Some(Text::new("this line is about no session", Tone::Alarm)),
        };
    }

    /// Takes the answer to the question.
    fn answer(&mut self, code: KeyCode, operator: &mut Operator) {
        match self.question.take() {
            Some(order) if code == KeyCode::Char('y') => {
                operator.send(order);
            }
            _ => self.message = Some(Text::new("nothing was ended", Tone::Plain)),
        }
    }

    /// How many rows fit between the head and the foot.
    fn room(&self) -> usize {
        self.size.0.saturating_sub(4).max(1)
    }

    /// The lines of the window.
    fn lines(&mut self, height: usize) -> Vec<Text> {
        let room = self.room();
        if let Some(chosen) = self.chosen {
            // The heading of the first table stays in sight with its first line.
            let top = if chosen == 1 && room > 1 { 0 } else { chosen };
            self.from = self.from.clamp(chosen.saturating_sub(room - 1), top);
        }
        self.from = self.from.min(self.rows.len().saturating_sub(room));
        let mut lines = overview::head(&self.view, self.nodes_per_second).to_vec();
        lines.push(Text::default());
        for (index, row) in self.rows.iter().enumerate().skip(self.from).take(room) {
            lines.push(match self.chosen {
                Some(chosen) if chosen == index => {
                    Text::new(&row.text.plain(), Style { reversed: true, ..Style::default() })
                }
                _ => row.text.clone(),
            });
        }
        lines.resize(height.saturating_sub(1), Text::default());
        lines.push(self.foot());
        lines
    }

    fn foot(&self) -> Text {
        match (&self.question, &self.message, &self.trouble) {
            (Some(Order::Close { connection, session }), ..) => {
                let question = format!("close the session {session} of connection {connection}? y/n");
                Text::new(&question, Tone::Strong)
            }
            (Some(Order::Disconnect(DisconnectTarget::Connection(connection))), ..) => {
                Text::new(&format!("end connection {connection}? y/n"), Tone::Strong)
            }
            (_, Some(message), _) => message.clone(),
            (_, None, Some(trouble)) => Text::new(trouble, Tone::Alarm),
            (_, None, None) => Text::new(KEYS, Tone::Faint),
        }
    }
}
