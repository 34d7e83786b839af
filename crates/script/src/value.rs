//! A JavaScript value, read into one of ours together with its places.

use crate::fault::{Fault, FaultKind};
use crate::limits::{VALUE_DEPTH_MAX, VALUE_NODES_MAX};
use crate::located::{Found, Located};
use crate::outline::{Here, Outline};
use crate::sandbox::Scene;
use crate::thrown;
use entourage_model::mark_halves;
use rquickjs::function::This;
use rquickjs::{Atom, Ctx, Object, Proxy, Symbol, Value};
use std::fmt::Write;

/// Reads a default export. Getters, proxies and `toJSON` run meanwhile, under the same limits as everything else.
pub(crate) fn read<'js>(
    scene: &Scene,
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    outline: &Outline,
) -> Result<Located, Fault> {
    let symbol = |name: &str| Symbol::new_global(ctx.clone(), name).map(|symbol| symbol.as_atom());
    let (schema, stand_in) = match (symbol("entourage.schema"), symbol("entourage.value")) {
        (Ok(schema), Ok(stand_in)) => (schema, stand_in),
        (Err(error), _) | (_, Err(error)) => return Err(scene.fault(ctx, &error)),
    };
    let mut reader = Reader { scene, ctx, schema, stand_in, nodes: 0, bytes: 0, above: Vec::new(), path: Vec::new() };
    let here = outline.here();
    match reader.read(value, here)? {
        Some(Located { found: Found::Alien(what), .. }) => Err(reader.refuse(here, &format!("is {what}"))),
        Some(found) => Ok(found),
        None => Err(reader.refuse(here, "is undefined")),
    }
}

struct Reader<'a, 'js> {
    scene: &'a Scene,
    ctx: &'a Ctx<'js>,
    /// A method that gives the JSON Schema of whatever carries it.
    schema: Atom<'js>,
    /// A property with what is meant by whatever carries it.
    stand_in: Atom<'js>,
    nodes: usize,
    bytes: usize,
    /// The objects around the value that is read.
    above: Vec<Object<'js>>,
    /// How they were reached, for people.
    path: Vec<Step>,
}

enum Step {
    Member(String),
    Item(usize),
}

impl<'a, 'js> Reader<'a, 'js> {
    /// Nothing for `undefined`.
    fn read(&mut self, value: &Value<'js>, here: Here<'_>) -> Result<Option<Located>, Fault> {
        self.count(here)?;
        let found = if value.is_undefined() {
            return Ok(None);
        } else if value.is_null() {
            Found::Null
        } else if let Some(flag) = value.as_bool() {
            Found::Flag(flag)
        } else if let Some(number) = value.as_number() {
            as_number(number)
        } else if let Some(text) = value.as_string() {
            match self.text(text, here)? {
                Some(text) => Found::Text(text),
                None => self.half_text(text, here)?,
            }
        } else if value.is_big_int() {
            alien("a bigint")
        } else if value.is_symbol() {
            alien("a symbol")
        } else if let Some(object) = value.as_object() {
            return self.object(object, here);
        } else {
            alien("no value of a declaration")
        };
        Ok(Some(Located { spot: here.spot, found }))
    }

    fn count(&mut self, here: Here<'_>) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > VALUE_NODES_MAX {
            return Err(self.refuse(here, &format!("has more than {VALUE_NODES_MAX} values in it")));
        }
        if self.scene.watch.is_over() {
            return Err(thrown::out_of_time(self.scene));
        }
        Ok(())
    }

    /// Nothing for a text that is none.
    fn text(&mut self, text: &rquickjs::String<'js>, here: Here<'_>) -> Result<Option<String>, Fault> {
        match text.to_string() {
            Ok(text) => {
                self.bytes += text.len();
                // The same text may stand in a value a million times and cost JavaScript nothing.
                if self.bytes > self.scene.limits.bytes {
                    return Err(self.refuse(here, "has too much text in it"));
                }
                Ok(Some(text))
            }
            Err(rquickjs::Error::Utf8(_)) => Ok(None),
            Err(error) => Err(self.fault(&error, here)),
        }
    }

    /// A text with half a character in it, which is marked: JavaScript's own JSON writes it as an escape.
    fn half_text(&mut self, text: &rquickjs::String<'js>, here: Here<'_>) -> Result<Found, Fault> {
        let quoted = self.ctx.json_stringify(text.clone()).map_err(|error| self.fault(&error, here))?;
        let quoted = quoted.map(|quoted| self.text(&quoted, here)).transpose()?.flatten();
        let marked = quoted.and_then(|quoted| serde_json::from_str(&mark_halves(&quoted)).ok());
        Ok(marked.map_or_else(|| alien("half a character (a lone surrogate)"), Found::Text))
    }

    fn object(&mut self, object: &Object<'js>, here: Here<'_>) -> Result<Option<Located>, Fault> {
        let found = |what| Ok(Some(Located { spot: here.spot, found: alien(what) }));
        if self.above.contains(object) {
            return found("an object that contains itself");
        }
        if self.above.len() == VALUE_DEPTH_MAX {
            return Err(self.refuse(here, &format!("is more than {VALUE_DEPTH_MAX} levels deep")));
        }
        self.above.push(object.clone());
        let found = self.inside(object, here);
        self.above.pop();
        found
    }

    fn inside(&mut self, object: &Object<'js>, here: Here<'_>) -> Result<Option<Located>, Fault> {
        if let Some(meant) = self.meant(object, here)? {
            if meant.is_null() && self.is_instance(object, "Date", here)? {
                return Ok(Some(Located { spot: here.spot, found: alien("a date that is none") }));
            }
            return self.read(&meant, here);
        }
        let found = if object.is_function() {
            Found::Function
        } else if is_list(object) {
            Found::List(self.items(object, here)?)
        } else if let Some(container) = self.container(object, here)? {
            Found::Alien(format!("a `{container}`"))
        } else {
            Found::Object(self.members(object, here)?)
        };
        Ok(Some(Located { spot: here.spot, found }))
    }

    /// What an object stands for, if not for itself.
    fn meant(&self, object: &Object<'js>, here: Here<'_>) -> Result<Option<Value<'js>>, Fault> {
        let fault = |error: rquickjs::Error| self.fault(&error, here);
        let schema: Value<'js> = object.get(self.schema.clone()).map_err(fault)?;
        if let Some(schema) = schema.into_function() {
            return schema.call((This(object.clone()),)).map(Some).map_err(fault);
        }
        let stand_in: Value<'js> = object.get(self.stand_in.clone()).map_err(fault)?;
        if !stand_in.is_undefined() {
            return Ok(Some(stand_in));
        }
        let as_json: Value<'js> = object.get("toJSON").map_err(fault)?;
        match as_json.into_function() {
            Some(as_json) => as_json.call((This(object.clone()),)).map(Some).map_err(fault),
            None => Ok(None),
        }
    }

    fn items(&mut self, list: &Object<'js>, here: Here<'_>) -> Result<Vec<Located>, Fault> {
        let length: f64 = list.get("length").map_err(|error| self.fault(&error, here))?;
        let mut items = Vec::new();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are below 2^53")]
        for index in 0..length as usize {
            let here = here.item(index);
            let key = u32::try_from(index).unwrap_or(u32::MAX);
            let value: Value<'js> = list.get(key).map_err(|error| self.fault(&error, here))?;
            self.path.push(Step::Item(index));
            // In a list nothing can be left away without moving the rest.
            let nothing = || Located { spot: here.spot, found: alien("`undefined`") };
            items.push(self.read(&value, here)?.unwrap_or_else(nothing));
            self.path.pop();
        }
        Ok(items)
    }

    fn members(&mut self, object: &Object<'js>, here: Here<'_>) -> Result<Vec<(String, Located)>, Fault> {
        let mut members = Vec::new();
        for key in object.keys::<Atom<'js>>() {
            let key = key.map_err(|error| self.fault(&error, here))?;
            let name = key.to_js_string().map_err(|error| self.fault(&error, here))?;
            let Some(name) = self.text(&name, here)? else {
                return Err(self.refuse(here, "has a key with half a character in it (a lone surrogate)"));
            };
            let here = here.member(&name);
            let value: Value<'js> = object.get(key).map_err(|error| self.fault(&error, here))?;
            self.path.push(Step::Member(name.clone()));
            if let Some(value) = self.read(&value, here)? {
                members.push((name, value));
            }
            self.path.pop();
        }
        Ok(members)
    }

    /// Things whose contents are not their members would come out empty, and nobody would notice.
    fn container(&self, object: &Object<'js>, here: Here<'_>) -> Result<Option<&'static str>, Fault> {
        for name in ["Promise", "Map", "Set", "WeakMap", "WeakSet", "RegExp", "Error"] {
            if self.is_instance(object, name, here)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn is_instance(&self, object: &Object<'js>, class: &str, here: Here<'_>) -> Result<bool, Fault> {
        let class: Value<'js> = self.ctx.globals().get(class).map_err(|error| self.fault(&error, here))?;
        Ok(class.into_function().is_some_and(|class| object.is_instance_of(class)))
    }

    /// What was thrown while a part was read. If nothing in the project threw it, the part is to blame.
    fn fault(&self, error: &rquickjs::Error, here: Here<'_>) -> Fault {
        let fault = self.scene.fault(self.ctx, error);
        match fault.kind {
            FaultKind::Threw | FaultKind::Value if fault.line.is_none() => fault.at(here.spot),
            FaultKind::Threw
            | FaultKind::Value
            | FaultKind::Read
            | FaultKind::Syntax
            | FaultKind::Import
            | FaultKind::Time
            | FaultKind::Memory
            | FaultKind::Arguments => fault,
        }
    }

    fn refuse(&self, here: Here<'_>, what: &str) -> Fault {
        let mut path = String::new();
        for step in &self.path {
            let _ = match step {
                Step::Member(name) if path.is_empty() => write!(path, "{name}"),
                Step::Member(name) => write!(path, ".{name}"),
                Step::Item(index) => write!(path, "[{index}]"),
            };
        }
        let subject = if path.is_empty() { "the default export".to_owned() } else { format!("`{path}`") };
        Fault::new(FaultKind::Value, &self.scene.entry, format!("{subject} {what}")).at(here.spot)
    }
}

fn alien(what: &str) -> Found {
    Found::Alien(what.to_owned())
}

fn as_number(number: f64) -> Found {
    // Beyond this, doubles are no longer exact as integers, and are shown as what they are.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "integral and within 53 bits")]
        return Found::Number((number as i64).into());
    }
    let name = if number.is_nan() { "NaN" } else { "Infinity" };
    serde_json::Number::from_f64(number).map_or_else(|| Found::Alien(format!("`{name}`")), Found::Number)
}

/// A proxy of a list is one, as it is for JavaScript itself.
fn is_list(object: &Object<'_>) -> bool {
    let mut object = object.clone();
    // Nobody wraps a list more often than that.
    for _ in 0..VALUE_DEPTH_MAX {
        match object.as_proxy().map(Proxy::target) {
            Some(Ok(target)) => object = target,
            Some(Err(_)) => {
                // It was revoked. Reading it will say so.
                object.ctx().catch();
                return false;
            }
            None => return object.is_array(),
        }
    }
    false
}
