//! Puts mutants into source text, each behind a question, so that one compilation has all of them.

use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

type Bytes = Range<usize>;

/// Where text was put that belongs to a mutant: a compiler's error there is the mutant's. What is `own` is the mutant's
/// text alone; the rest also has what the mutant stands next to.
pub struct Region {
    pub mutant: usize,
    pub bytes: Bytes,
    pub own: bool,
    /// Whether the mutant is a new guard, with which a match may have no arm for some value.
    pub guard: bool,
}

/// A planted file, and the mutants that no question can choose, because they stand where all is constant.
pub struct Planted {
    pub text: String,
    pub regions: Vec<Region>,
    pub left_out: Vec<usize>,
}

/// How a mutant stands in the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Instead of an expression.
    Expression,
    /// A return at the beginning of a function.
    Return,
    /// A guard of an arm that has none.
    NewGuard,
    /// Instead of a guard.
    Guard,
}

/// The places of a file where mutants may stand.
#[derive(Default)]
struct Places {
    /// Expressions with an operator or fields: all, and their operators or fields.
    expressions: Vec<(Bytes, Vec<Bytes>)>,
    /// Match arms: all, their patterns and their guards.
    arms: Vec<(Bytes, Bytes, Option<Bytes>)>,
    /// Functions: all, and where their bodies begin.
    bodies: Vec<(Bytes, usize)>,
    /// How many constants the visitor is in.
    constant: usize,
    /// Conditions with a `let` cannot stand in brackets.
    lets: HashSet<usize>,
}

impl Places {
    fn expression(&mut self, whole: Bytes, parts: Vec<Bytes>) {
        if self.constant == 0 {
            self.expressions.push((whole, parts));
        }
    }

    fn function<T>(&mut self, whole: Bytes, sig: &syn::Signature, body: Option<&syn::Block>, item: &T, go: Go<T>) {
        let constant = usize::from(sig.constness.is_some());
        if let Some(body) = body.filter(|_| constant == 0) {
            self.bodies.push((whole, body.brace_token.span.open().byte_range().end));
        }
        self.constant += constant;
        go(self, item);
        self.constant -= constant;
    }

    fn in_constant<T: ?Sized>(&mut self, item: &T, go: impl FnOnce(&mut Self, &T)) {
        self.constant += 1;
        go(self, item);
        self.constant -= 1;
    }

    fn condition(&mut self, condition: &syn::Expr) {
        if let syn::Expr::Binary(both) = condition
            && matches!(both.op, syn::BinOp::And(_))
            && has_let(condition)
        {
            self.lets.insert(both.op.span().byte_range().start);
            self.condition(&both.left);
            self.condition(&both.right);
        }
    }
}

type Go<T> = fn(&mut Places, &T);

fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(both) => {
            matches!(both.op, syn::BinOp::And(_)) && (has_let(&both.left) || has_let(&both.right))
        }
        _ => false,
    }
}

fn bytes(node: &impl Spanned) -> Bytes {
    node.span().byte_range()
}

impl<'a> Visit<'a> for Places {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(bytes(item), &item.sig, Some(&item.block), item, |places, item| {
            visit::visit_item_fn(places, item)
        });
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        let go: Go<syn::ImplItemFn> = |places, item| visit::visit_impl_item_fn(places, item);
        self.function(bytes(item), &item.sig, Some(&item.block), item, go);
    }
    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        let go: Go<syn::TraitItemFn> = |places, item| visit::visit_trait_item_fn(places, item);
        self.function(bytes(item), &item.sig, item.default.as_ref(), item, go);
    }
    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.in_constant(item, |places, item| visit::visit_item_const(places, item));
    }
    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        self.in_constant(item, |places, item| visit::visit_item_static(places, item));
    }
    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.in_constant(item, |places, item| visit::visit_impl_item_const(places, item));
    }
    fn visit_trait_item_const(&mut self, item: &'a syn::TraitItemConst) {
        self.in_constant(item, |places, item| visit::visit_trait_item_const(places, item));
    }
    fn visit_variant(&mut self, item: &'a syn::Variant) {
        self.in_constant(item, |places, item| visit::visit_variant(places, item));
    }
    fn visit_type(&mut self, item: &'a syn::Type) {
        self.in_constant(item, |places, item| visit::visit_type(places, item));
    }
    fn visit_generic_argument(&mut self, item: &'a syn::GenericArgument) {
        self.in_constant(item, |places, item| visit::visit_generic_argument(places, item));
    }
    fn visit_pat(&mut self, item: &'a syn::Pat) {
        self.in_constant(item, |places, item| visit::visit_pat(places, item));
    }
    fn visit_expr_const(&mut self, item: &'a syn::ExprConst) {
        self.in_constant(item, |places, item| visit::visit_expr_const(places, item));
    }
    fn visit_expr_repeat(&mut self, item: &'a syn::ExprRepeat) {
        self.visit_expr(&item.expr);
        self.in_constant(&*item.len, |places, item| places.visit_expr(item));
    }
    fn visit_expr_closure(&mut self, item: &'a syn::ExprClosure) {
        let constant = std::mem::take(&mut self.constant);
        visit::visit_expr_closure(self, item);
        self.constant = constant;
    }
    fn visit_expr_if(&mut self, item: &'a syn::ExprIf) {
        self.condition(&item.cond);
        visit::visit_expr_if(self, item);
    }
    fn visit_expr_while(&mut self, item: &'a syn::ExprWhile) {
        self.condition(&item.cond);
        visit::visit_expr_while(self, item);
    }
    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let guard = arm.guard.as_ref().map(|(_, guard)| guard);
        if let Some(guard) = guard {
            self.condition(guard);
        }
        if self.constant == 0 {
            self.arms.push((bytes(arm), bytes(&arm.pat), guard.map(|guard| bytes(&**guard))));
        }
        visit::visit_arm(self, arm);
    }
    fn visit_expr_binary(&mut self, item: &'a syn::ExprBinary) {
        if !self.lets.contains(&bytes(&item.op).start) {
            self.expression(bytes(item), vec![bytes(&item.op)]);
        }
        visit::visit_expr_binary(self, item);
    }
    fn visit_expr_unary(&mut self, item: &'a syn::ExprUnary) {
        self.expression(bytes(item), vec![bytes(&item.op)]);
        visit::visit_expr_unary(self, item);
    }
    fn visit_expr_struct(&mut self, item: &'a syn::ExprStruct) {
        self.expression(bytes(item), item.fields.iter().map(bytes).collect());
        visit::visit_expr_struct(self, item);
    }
}

/// A place with mutants, each with its text.
struct Node {
    bytes: Bytes,
    form: Form,
    mutants: Vec<(usize, String)>,
}

/// Plants the mutants with these numbers, which all are of one file with this text, as `cargo mutants --list --json`
/// says them.
pub fn plant(text: &str, mutants: &[(usize, &Value)]) -> Planted {
    let mut places = Places::default();
    places.visit_file(&syn::parse_file(text).expect("a file of the core"));
    let mut nodes = BTreeMap::new();
    let mut left_out = Vec::new();
    for &(number, mutant) in mutants {
        let Some((bytes, form, instead)) = place(text, &places, mutant) else {
            left_out.push(number);
            continue;
        };
        let order = (bytes.start, Reverse(bytes.end), form);
        let node = nodes.entry(order).or_insert(Node { bytes, form, mutants: Vec::new() });
        node.mutants.push((number, instead));
    }
    let mut nodes: Vec<Node> = nodes.into_values().collect();
    for node in nodes.iter_mut().filter(|node| node.form == Form::Guard) {
        // What makes a guard true comes first, since `||` binds less.
        node.mutants.sort_by_key(|(_, instead)| instead != "true");
    }
    let mut output = Output { text, written: String::new(), regions: Vec::new() };
    output.write(0..text.len(), &nodes);
    Planted { text: output.written, regions: output.regions, left_out }
}

/// Where a mutant stands, how, and its text.
fn place(text: &str, places: &Places, mutant: &Value) -> Option<(Bytes, Form, String)> {
    let span = offset(text, &mutant["span"]["start"])..offset(text, &mutant["span"]["end"]);
    let replacement = mutant["replacement"].as_str()?;
    let with = |whole: &Bytes, part: Bytes, by: &str| {
        let text = format!("{}{by}{}", &text[whole.start..part.start], &text[part.end..whole.end]);
        (whole.clone(), Form::Expression, text)
    };
    match mutant["genre"].as_str()? {
        "BinaryOperator" | "UnaryOperator" => {
            let (whole, _) = places.expressions.iter().find(|(_, parts)| parts.contains(&span))?;
            Some(with(whole, span, replacement))
        }
        "StructField" => {
            let is_field = |part: &Bytes| part.start == span.start;
            let found =
                places.expressions.iter().find_map(|(whole, parts)| Some((whole, parts.iter().find(|p| is_field(p))?)));
            let (whole, field) = found?;
            let comma = text[field.end..]
                .find(|c: char| !c.is_whitespace())
                .filter(|at| text[field.end + at..].starts_with(','));
            Some(with(whole, field.start..field.end + comma.map_or(0, |at| at + 1), ""))
        }
        "FnValue" => {
            // What a closure or an opaque type returns has one type only.
            if mutant["function"]["return_type"].as_str()?.starts_with("-> impl") {
                return None;
            }
            let holds = |whole: &Bytes| whole.start <= span.start && span.end <= whole.end;
            let (_, body) =
                places.bodies.iter().filter(|(whole, _)| holds(whole)).max_by_key(|(whole, _)| whole.start)?;
            Some((*body..*body, Form::Return, replacement.to_string()))
        }
        "MatchArm" => {
            let (_, pattern, guard) = places.arms.iter().find(|(arm, ..)| arm.start == span.start)?;
            Some(match guard {
                Some(guard) => (guard.clone(), Form::Guard, "false".to_string()),
                None => (pattern.end..pattern.end, Form::NewGuard, String::new()),
            })
        }
        "MatchArmGuard" => {
            places.arms.iter().find(|(.., guard)| guard.as_ref() == Some(&span))?;
            Some((span, Form::Guard, replacement.to_string()))
        }
        _ => None,
    }
}

/// Where in the text a place with a line and a column is.
fn offset(text: &str, place: &Value) -> usize {
    let of = |name: &str| place[name].as_u64().expect("a number") as usize - 1;
    let line: usize = text.split_inclusive('\n').take(of("line")).map(str::len).sum();
    text[line..].char_indices().nth(of("column")).map_or(text.len(), |(at, _)| line + at)
}

struct Output<'a> {
    text: &'a str,
    written: String,
    regions: Vec<Region>,
}

impl Output<'_> {
    /// Writes a part of the text with its nodes, which are in the order of their beginnings, outer ones first.
    fn write(&mut self, part: Bytes, mut nodes: &[Node]) {
        let mut at = part.start;
        while let Some((node, rest)) = nodes.split_first() {
            let inner =
                rest.iter().take_while(|n| n.bytes.start < node.bytes.end && n.bytes.end <= node.bytes.end).count();
            let (inner, rest) = rest.split_at(inner);
            self.written.push_str(&self.text[at..node.bytes.start]);
            let start = self.written.len();
            self.node(node, inner);
            let all = start..self.written.len();
            let beside = |(mutant, _): &(usize, String)| Region {
                mutant: *mutant,
                bytes: all.clone(),
                own: false,
                guard: node.form == Form::NewGuard,
            };
            self.regions.extend(node.mutants.iter().map(beside));
            at = node.bytes.end;
            nodes = rest;
        }
        self.written.push_str(&self.text[at..part.end]);
    }

    fn node(&mut self, node: &Node, inner: &[Node]) {
        let (before, after) = match node.form {
            Form::Expression => ("(", " })"),
            Form::Return | Form::NewGuard => ("", ""),
            Form::Guard => ("(", ")"),
        };
        self.written.push_str(before);
        for (number, instead) in &node.mutants {
            let question = format!("crate::mutant({number})");
            match node.form {
                Form::Expression => self.own(*number, &format!("if {question} {{ "), instead, " } else "),
                Form::Return => self.own(*number, &format!(" if {question} {{ return "), instead, "; }"),
                Form::NewGuard => self.written.push_str(&format!(" if !{question}")),
                Form::Guard if instead == "true" => self.written.push_str(&format!("{question} || ")),
                Form::Guard => self.written.push_str(&format!("!{question} && ")),
            }
        }
        match node.form {
            Form::Expression => self.written.push_str("{ "),
            Form::Guard => self.written.push('('),
            Form::Return | Form::NewGuard => (),
        }
        self.write(node.bytes.clone(), inner);
        self.written.push_str(after);
        if node.form == Form::Guard {
            self.written.push(')');
        }
    }

    fn own(&mut self, mutant: usize, before: &str, instead: &str, after: &str) {
        self.written.push_str(before);
        let start = self.written.len();
        self.written.push_str(instead);
        self.regions.push(Region { mutant, bytes: start..self.written.len(), own: true, guard: false });
        self.written.push_str(after);
    }
}
