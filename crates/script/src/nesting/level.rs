//! What is counted between two brackets.

/// What lies between two brackets.
#[derive(Clone, Default)]
pub(super) struct Level {
    pub(super) opener: u8,
    /// Belongs to `if`, `for`, `while` or `with`, so that a statement follows it.
    pub(super) head: bool,
    /// Operators since the last comma or semicolon.
    pub(super) run: usize,
    /// The longest run of this statement.
    pub(super) longest: usize,
    /// The longest run of the statement before, if only a semicolon has come since.
    pub(super) ended: Option<usize>,
    /// What an `else` or a `while` behind a semicolon still belongs to.
    pub(super) resumed: usize,
    /// `<` without its `>`: if they are type arguments, a comma between them ends nothing around them.
    pub(super) angles: usize,
    /// `infer` in this statement: what follows its `extends` may be a constraint or a condition.
    pub(super) infers: usize,
    /// `?` since the last comma or semicolon, and `=>` behind one: in `a ? (b) : c => d`, the type of a function's
    /// result may begin at the colon.
    pub(super) questions: usize,
    pub(super) arrows: usize,
    /// How often the parser may have to try what is in here.
    pub(super) attempts: u64,
}

impl Level {
    pub(super) fn depth(&self) -> usize {
        1 + self.run + self.resumed
    }

    pub(super) fn end_statement(&mut self) {
        self.ended = Some(self.longest.max(self.run));
        self.run = 0;
        self.longest = 0;
        self.angles = 0;
        self.infers = 0;
        self.end_choice();
    }

    pub(super) fn end_choice(&mut self) {
        self.questions = 0;
        self.arrows = 0;
    }

    /// The deeper of two readings.
    pub(super) fn join(&mut self, other: &Self) {
        self.head |= other.head;
        self.run = self.run.max(other.run);
        self.longest = self.longest.max(other.longest);
        self.ended = self.ended.max(other.ended);
        self.resumed = self.resumed.max(other.resumed);
        self.angles = self.angles.max(other.angles);
        self.infers = self.infers.max(other.infers);
        self.questions = self.questions.max(other.questions);
        self.arrows = self.arrows.max(other.arrows);
        self.attempts = self.attempts.max(other.attempts);
    }

    /// How often the parser may have to try what comes next. Behind `<` there may be types, or numbers to compare.
    pub(super) fn attempts_here(&self) -> u64 {
        let choices = (1 + self.angles + self.arrows) * (1 + self.infers);
        self.attempts.saturating_mul(u64::try_from(choices).unwrap_or(u64::MAX))
    }
}
