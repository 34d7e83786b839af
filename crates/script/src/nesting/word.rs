//! Which words go on with an expression, and which begin one.

/// A word, by what may stand beside it.
pub(super) enum Word {
    /// An operand, as far as anybody can tell.
    Name,
    /// An expression, a type, a declaration or a statement follows.
    Prefix,
    /// The same, and no variable has that name.
    ReservedPrefix,
    /// It stands between two.
    Infix,
    /// The same, and no variable has that name.
    ReservedInfix,
    /// A bracket and then a statement follow.
    Head,
    /// The same, but it may as well be the end of a `do`.
    While,
    Else,
}

impl Word {
    pub(super) fn of(word: &str) -> Self {
        match word {
            "if" | "for" | "with" => Self::Head,
            "while" => Self::While,
            "else" => Self::Else,
            "in" | "instanceof" | "extends" => Self::ReservedInfix,
            "as" | "satisfies" | "of" | "is" | "implements" | "from" => Self::Infix,
            "return" | "throw" | "case" | "do" | "default" | "typeof" | "void" | "delete" | "new" => Self::ReservedPrefix,
            // Statements, among them those that no expression follows on the same line.
            "try" | "finally" | "catch" | "break" | "continue" | "debugger"
            // Expressions.
            | "await" | "yield" | "async" | "class" | "function"
            // Declarations.
            | "import" | "export" | "const" | "let" | "var" | "using" | "enum" | "type" | "interface" | "namespace"
            | "module" | "global" | "declare" | "abstract" | "static" | "accessor" | "override" | "public" | "private"
            | "protected" | "get" | "set"
            // Types.
            | "keyof" | "unique" | "infer" | "asserts" | "readonly" | "out" => Self::Prefix,
            _ => Self::Name,
        }
    }

    /// Whether it may come behind a semicolon and still belong to the statement before.
    pub(super) fn resumes(&self) -> bool {
        matches!(self, Self::Else | Self::While)
    }

    /// Whether it may begin a line and still belong to the expression or statement on the line before.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self, Self::Infix | Self::ReservedInfix | Self::Else | Self::While)
    }
}
