//! Shows one page, and asks what is painted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::connection::{Connection, Failure, Line, Message};
use super::paint::{LetterBox, Picture, Shots};
use super::requests::{
    MAX_REQUESTS, Paused, Purpose, Resource, ResourceAnswer, Resources, ask_host, too_many,
};
use crate::world::{Rendered, RenderedFrame, RenderedPage, Response, Unanswered, UnansweredKind};

/// Defines `comail` in an isolated world of a frame.
const SCRIPT: &str = include_str!("extract.js");

const WORLD: &str = "comail";

/// For everything that a page loads.
const LOAD_WITHIN: Duration = Duration::from_secs(20);

/// For all that is done with the page, loading included.
const ALL_WITHIN: Duration = Duration::from_secs(45);

/// A page that asks for nothing for so long is ready.
const QUIET: Duration = Duration::from_millis(300);

/// The same after a click.
const QUIET_AFTER_CLICK: Duration = Duration::from_millis(100);

const MAX_FRAMES: usize = 20;

/// As long as a page may be.
const MAX_BYTES: usize = 5 << 20;

/// How an address is brought into the window, one way after the other: a bar may cover some.
const WAYS: [&str; 3] = ["center", "end", "start"];

/// How many screenfuls are measured in one pass.
const MAX_AIMS: usize = 40;

/// How many screenfuls may have been measured when texts without addresses are looked at again.
const MAX_AIMS_OF_ALL: usize = 60;

/// How long texts without addresses are measured: what was not measured until then is not seen.
const TEXTS_WITHIN: Duration = Duration::from_secs(15);

/// Shows the page that `response` brought, and gives what a reader sees of it.
pub(super) fn render(
    connection: &Connection,
    url: &Url,
    response: &Response,
    resources: &dyn Resources,
) -> Result<Rendered, Failure> {
    let mut known = HashMap::new();
    let mut images = BTreeSet::new();
    loop {
        let given = (resources, &mut known, &images);
        match show(connection, url, response, given)? {
            Shown::Done(rendered) => return Ok(rendered),
            // Some address stands on an image, which is loaded the second time.
            Shown::OnImages(behind) if images.is_empty() => images = behind,
            Shown::OnImages(_) => return Err(Failure::Late),
        }
    }
}

enum Shown {
    Done(Rendered),
    OnImages(BTreeSet<String>),
}

type Given<'a> = (
    &'a dyn Resources,
    &'a mut HashMap<String, Resource>,
    &'a BTreeSet<String>,
);

fn show(
    connection: &Connection,
    url: &Url,
    response: &Response,
    (resources, known, images): Given<'_>,
) -> Result<Shown, Failure> {
    let until = Instant::now() + ALL_WITHIN;
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut browser = connection.line();
    let made = browser.call("Target.createBrowserContext", json!({}), until)?;
    let context = text(&made, "browserContextId");
    let target = json!({"url": "about:blank", "browserContextId": context,
        "width": 1280, "height": 900});
    let made = browser.call("Target.createTarget", target, until)?;
    let target = text(&made, "targetId");
    let attach = json!({"targetId": target, "flatten": true});
    let attached = browser.call("Target.attachToTarget", attach, until)?;
    let mut line = connection.line();
    line.attach(text(&attached, "sessionId"));
    let tab = Tab {
        line,
        // The main frame of a target has its id.
        frame: target,
        url,
        response,
        resources,
        known,
        images,
        load_until: Instant::now() + LOAD_WITHIN,
        until,
        phase: Phase::Loading,
        loaded: false,
        active: Instant::now(),
        aims: 0,
        looked: Instant::now(),
        requests_left: MAX_REQUESTS,
        unreachable: HashSet::new(),
        unanswered: None,
        incomplete: false,
        leaves: None,
        hops: Vec::new(),
        forbidden: Vec::new(),
    };
    let shown = tab.run();
    let dispose = json!({"browserContextId": context});
    browser.call("Target.disposeBrowserContext", dispose, until + QUIET * 10)?;
    shown
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the page itself was asked for.
    Loading,
    Loaded,
    /// Controls are clicked: whatever leaves the page is held back.
    Clicking,
}

struct Tab<'a> {
    line: Line<'a>,
    frame: String,
    url: &'a Url,
    response: &'a Response,
    resources: &'a dyn Resources,
    /// What was answered before, to whatever page of the same visit asked for it.
    known: &'a mut HashMap<String, Resource>,
    images: &'a BTreeSet<String>,
    load_until: Instant,
    until: Instant,
    phase: Phase,
    loaded: bool,
    active: Instant,
    /// How many screenfuls were measured.
    aims: usize,
    /// Since when the page is looked at.
    looked: Instant,
    requests_left: usize,
    /// Hosts that were asked for in vain.
    unreachable: HashSet<String>,
    unanswered: Option<Unanswered>,
    incomplete: bool,
    leaves: Option<Url>,
    hops: Vec<Url>,
    forbidden: Vec<Url>,
}

/// Which texts without addresses a look at the page measures.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Others {
    None,
    /// Those that no look has measured.
    New,
    All,
}

/// What a look at the page found.
#[derive(Debug, Deserialize)]
struct Pass {
    /// How many addresses were not painted so far.
    hidden: usize,
    /// How many wait to be measured.
    tokens: usize,
}

#[derive(Debug, Deserialize)]
struct Aim {
    found: Vec<Token>,
}

#[derive(Debug, Deserialize)]
struct Token {
    index: usize,
    boxes: Vec<LetterBox>,
    /// All characters of an address, by lines. Other texts have none.
    lines: Vec<Vec<LetterBox>>,
}

impl Token {
    fn all_boxes(&mut self) -> impl Iterator<Item = &mut LetterBox> {
        self.boxes.iter_mut().chain(self.lines.iter_mut().flatten())
    }

    /// Whether `picture` has ink close to it, though its letters are not in it.
    fn has_ink_beside(&self, picture: &Picture) -> bool {
        self.lines.iter().any(|line| picture.has_ink_beside(line))
    }
}

/// What the pixels of a text say.
#[derive(Debug, Serialize)]
struct Measured {
    index: usize,
    /// Which of its boxes are on the screen.
    seen: Vec<bool>,
    /// Something changes there by itself.
    moving: bool,
    struck: bool,
    /// A reader sees something joined to it that was not read.
    joined: bool,
}

impl Tab<'_> {
    fn run(mut self) -> Result<Shown, Failure> {
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]})),
            (
                "Target.setAutoAttach",
                json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}),
            ),
            ("Network.setBypassServiceWorker", json!({"bypass": true})),
            (
                "Emulation.setDeviceMetricsOverride",
                json!({"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
            ),
        ] {
            self.tell(method, params)?;
        }
        // The answer to the last one comes when all are done.
        let still = json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
        self.call("Emulation.setEmulatedMedia", still)?;
        self.call("Page.navigate", json!({"url": self.url.as_str()}))?;
        self.wait_until_quiet(QUIET)?;
        if let Some(why) = self.unanswered.take() {
            return Ok(Shown::Done(Rendered::Unanswered(why)));
        }
        if !self.loaded && self.leaves.is_none() {
            let seconds = LOAD_WITHIN.as_secs();
            let detail = format!("{}: it was not loaded within {seconds} s", self.url);
            let why = Unanswered::new(UnansweredKind::Timeout, detail);
            return Ok(Shown::Done(Rendered::Unanswered(why)));
        }
        self.phase = Phase::Clicking;
        self.looked = Instant::now();
        let main = self.world(&self.frame.clone())?;
        if let Some(images) = self.look(main)? {
            return Ok(Shown::OnImages(images));
        }
        let frames = self.frames(main)?;
        let body = self.serialised(main)?;
        Ok(Shown::Done(Rendered::Page(RenderedPage {
            body,
            frames,
            hops: self.hops,
            forbidden: self.forbidden,
            leaves: self.leaves,
            incomplete: self.incomplete,
        })))
    }

    /// Looks at the page, and opens what its controls open while some address is not painted.
    /// Gives the images that addresses stand on, if those were not loaded.
    fn look(&mut self, world: u64) -> Result<Option<BTreeSet<String>>, Failure> {
        self.evaluate::<Value>(world, "comail.still()")?;
        let pass = self.measured_pass(world, None, Others::All)?;
        let behind: Vec<String> = self.evaluate(world, "comail.images()")?;
        if self.images.is_empty() && !behind.is_empty() {
            return Ok(Some(behind.into_iter().collect()));
        }
        if pass.hidden > 0 {
            self.open(world)?;
            // What covered other texts may be gone.
            self.measured_pass(world, None, Others::All)?;
        }
        Ok(None)
    }

    /// Does what a reader does to see more: scrolls, points at menus and clicks, until no address is
    /// hidden.
    fn open(&mut self, world: u64) -> Result<(), Failure> {
        self.evaluate::<Value>(world, "comail.scrollThrough()")?;
        if self.settled_pass(world)?.hidden == 0 {
            return Ok(());
        }
        let menus: usize = self.evaluate(world, "comail.findMenus()")?;
        for at in 0..menus {
            let (x, y): (f64, f64) = self.evaluate(world, &format!("comail.pointAt({at})"))?;
            let there = json!({"type": "mouseMoved", "x": x, "y": y});
            self.call("Input.dispatchMouseEvent", there)?;
            if self.settled_pass(world)?.hidden == 0 {
                return Ok(());
            }
        }
        let controls: usize = self.evaluate(world, "comail.findControls()")?;
        for at in 0..controls {
            if self.evaluate::<bool>(world, &format!("comail.click({at})"))?
                && self.settled_pass(world)?.hidden == 0
            {
                break;
            }
        }
        Ok(())
    }

    /// A look at the page when it has done what it was led to do.
    fn settled_pass(&mut self, world: u64) -> Result<Pass, Failure> {
        self.wait_until_quiet(QUIET_AFTER_CLICK)?;
        self.evaluate::<Value>(world, "comail.still()")?;
        self.measured_pass(world, None, Others::New)
    }

    /// One look at the page, or at a frame of this element, with the pixels of its addresses.
    fn measured_pass(
        &mut self,
        world: u64,
        owner: Option<&Value>,
        others: Others,
    ) -> Result<Pass, Failure> {
        let is_late = self.looked.elapsed() > TEXTS_WITHIN || self.aims >= MAX_AIMS_OF_ALL;
        let others = json!(if is_late { Others::None } else { others });
        let pass: Pass = self.evaluate(world, &format!("comail.pass({others})"))?;
        if pass.tokens == 0 {
            return Ok(pass);
        }
        for way in WAYS {
            for _ in 0..MAX_AIMS {
                let is_late = self.looked.elapsed() > TEXTS_WITHIN;
                let aim = format!("comail.aim({way:?}, {is_late})");
                let aim: Option<Aim> = self.evaluate(world, &aim)?;
                let Some(Aim { found }) = aim else { break };
                let results = json!(self.measure(world, owner, found)?);
                let last = way == WAYS[WAYS.len() - 1];
                let settle = format!("comail.settle({results}, {last})");
                self.evaluate::<Value>(world, &settle)?;
            }
        }
        let hidden = self.evaluate(world, "comail.unseen()")?;
        Ok(Pass { hidden, ..pass })
    }

    fn measure(
        &mut self,
        world: u64,
        owner: Option<&Value>,
        mut tokens: Vec<Token>,
    ) -> Result<Vec<Measured>, Failure> {
        self.aims += 1;
        if let Some(owner) = owner {
            let place = self.place_of(owner)?;
            for one in tokens.iter_mut().flat_map(Token::all_boxes) {
                *one = one.moved(place);
            }
            // A frame may be taller than the window. The first is what was scrolled to.
            let first = tokens.first().map(|token| token.index);
            tokens.retain(|token| {
                Some(token.index) == first || token.boxes.iter().all(LetterBox::is_in_window)
            });
        }
        let indices: Vec<_> = tokens.iter().map(|token| token.index).collect();
        let with = self.screenshot()?;
        self.evaluate::<Value>(world, &format!("comail.fade({})", json!(indices)))?;
        let mut shots = Shots {
            with,
            without: self.screenshot()?,
            again: None,
        };
        let seen = |shots: &Shots| -> Vec<_> {
            let boxes = tokens.iter().map(|token| shots.seen(&token.boxes));
            boxes.collect()
        };
        let is_any = |seen: &[Vec<bool>]| seen.iter().flatten().any(|is_seen| *is_seen);
        let mut stand_out = seen(&shots);
        if !is_any(&stand_out) {
            // A busy machine may still show the frame before.
            shots.without = self.screenshot()?;
            stand_out = seen(&shots);
        }
        let shown = tokens.iter().zip(&stand_out);
        let shown = shown.filter(|(_, seen)| seen.contains(&true));
        let shown = shown.map(|(token, _)| token).collect();
        let joined = self.joined(world, shown, &shots.without)?;
        self.evaluate::<Value>(world, "comail.unfade()")?;
        if is_any(&stand_out) {
            shots.again = Some(self.screenshot()?);
        }
        let measured = tokens.iter().zip(stand_out).map(|(token, stands_out)| {
            let seen = shots.seen(&token.boxes);
            Measured {
                index: token.index,
                moving: seen != stands_out,
                struck: !token.lines.is_empty() && shots.is_struck(&token.boxes),
                joined: joined.contains(&token.index),
                seen,
            }
        });
        Ok(measured.collect())
    }

    /// Which of these addresses have something joined to them that was not read: it is still
    /// painted when all that was read is taken away.
    fn joined(
        &mut self,
        world: u64,
        mut addresses: Vec<&Token>,
        without: &Picture,
    ) -> Result<Vec<usize>, Failure> {
        // Most have nothing beside them at all.
        addresses.retain(|token| token.has_ink_beside(without));
        // The first picture of a busy machine may still show the frame before.
        for _ in 0..2 {
            if !addresses.is_empty() {
                self.evaluate::<Value>(world, "comail.fadeRead()")?;
                let bare = self.screenshot()?;
                addresses.retain(|token| token.has_ink_beside(&bare));
            }
        }
        Ok(addresses.iter().map(|token| token.index).collect())
    }

    /// Where the content of an element begins in the window.
    fn place_of(&mut self, node: &Value) -> Result<(f64, f64), Failure> {
        let model = self.call("DOM.getBoxModel", json!({"backendNodeId": node}))?;
        let corner = |at: usize| model["model"]["content"][at].as_f64().unwrap_or(-1e6);
        Ok((corner(0), corner(1)))
    }

    fn screenshot(&mut self) -> Result<Picture, Failure> {
        let params = json!({"format": "png", "optimizeForSpeed": true});
        let taken = self.call("Page.captureScreenshot", params)?;
        let refused = |why: String| Failure::Refused {
            method: "Page.captureScreenshot".to_owned(),
            why,
        };
        let bytes = STANDARD.decode(taken["data"].as_str().unwrap_or_default());
        let bytes = bytes.map_err(|error| refused(error.to_string()))?;
        Picture::decode(&bytes).map_err(|error| refused(error.to_string()))
    }

    fn serialised(&mut self, world: u64) -> Result<Vec<u8>, Failure> {
        let text: String = self.evaluate(world, "comail.serialise()")?;
        if text.len() > MAX_BYTES {
            return Err(Failure::Refused {
                method: "serialise".to_owned(),
                why: format!("it shows more than {MAX_BYTES} bytes"),
            });
        }
        Ok(text.into_bytes())
    }

    /// The frames of the page that a reader sees, and theirs.
    fn frames(&mut self, main: u64) -> Result<Vec<RenderedFrame>, Failure> {
        let tree = self.call("Page.getFrameTree", json!({}))?;
        let mut waiting = vec![(tree["frameTree"].clone(), main)];
        let mut frames = Vec::new();
        while let Some((tree, world)) = waiting.pop() {
            for child in tree["childFrames"].as_array().into_iter().flatten() {
                if frames.len() >= MAX_FRAMES {
                    break;
                }
                let id = child["frame"]["id"].as_str().unwrap_or_default();
                let url = child["frame"]["url"].as_str().unwrap_or_default();
                // One that was not loaded has none.
                let is_there = !url.is_empty() && child["frame"]["unreachableUrl"].is_null();
                let Some(owner) = self.shown_frame(id, world)?.filter(|_| is_there) else {
                    continue;
                };
                let Ok(inside) = self.world(id) else { continue };
                self.evaluate::<Value>(inside, "comail.still()")?;
                self.measured_pass(inside, Some(&owner), Others::All)?;
                let body = self.serialised(inside)?;
                // What has no address of its own is written by the page around it.
                let url = Url::parse(url).ok();
                let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
                let url = url.unwrap_or_else(|| self.url.clone());
                frames.push(RenderedFrame { url, body });
                waiting.push((child.clone(), inside));
            }
        }
        Ok(frames)
    }

    /// The element of a frame, scrolled to, if a reader sees it.
    fn shown_frame(&mut self, frame: &str, world: u64) -> Result<Option<Value>, Failure> {
        let Ok(owner) = self.call("DOM.getFrameOwner", json!({"frameId": frame})) else {
            return Ok(None);
        };
        let node = json!({"backendNodeId": owner["backendNodeId"], "executionContextId": world});
        let Ok(object) = self.call("DOM.resolveNode", node) else {
            return Ok(None);
        };
        let asked = json!({
            "objectId": object["object"]["objectId"],
            "functionDeclaration": "function () { return comail.showsFrame(this); }",
            "returnByValue": true,
        });
        let answer = self.call("Runtime.callFunctionOn", asked)?;
        let is_shown = answer["result"]["value"].as_bool().unwrap_or_default();
        Ok(is_shown.then(|| owner["backendNodeId"].clone()))
    }

    fn world(&mut self, frame: &str) -> Result<u64, Failure> {
        let made = json!({"frameId": frame, "worldName": WORLD});
        let made = self.call("Page.createIsolatedWorld", made)?;
        let world = made["executionContextId"].as_u64().unwrap_or_default();
        self.evaluate::<Value>(world, SCRIPT)?;
        Ok(world)
    }

    fn evaluate<T: DeserializeOwned>(&mut self, world: u64, text: &str) -> Result<T, Failure> {
        let asked = json!({
            "expression": text,
            "contextId": world,
            "returnByValue": true,
            "awaitPromise": true,
            "timeout": LOAD_WITHIN.as_millis(),
        });
        let mut answer = self.call("Runtime.evaluate", asked)?;
        let refused = |why: String| Failure::Refused {
            method: "Runtime.evaluate".to_owned(),
            why,
        };
        if let Some(thrown) = answer.get("exceptionDetails") {
            let said = &thrown["exception"]["description"];
            let said = said.as_str().or_else(|| thrown["text"].as_str());
            return Err(refused(said.unwrap_or_default().to_owned()));
        }
        let value = answer["result"]["value"].take();
        serde_json::from_value(value).map_err(|error| refused(error.to_string()))
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let id = self.line.ask(method, params, self.until)?;
        // Kept apart from what `hear` puts back, which waits for this answer too.
        loop {
            match self.line.receive(self.until)? {
                None => return Err(Failure::Late),
                Some(message) if message.id == Some(id) => return message.into_result(method),
                Some(message) => self.hear(message)?,
            }
        }
    }

    /// Sends a command whose answer does not matter.
    fn tell(&mut self, method: &str, params: Value) -> Result<(), Failure> {
        self.line.tell(method, params, self.until)
    }

    /// Answers the page until it has asked for nothing for this long.
    fn wait_until_quiet(&mut self, quiet: Duration) -> Result<(), Failure> {
        self.active = Instant::now();
        loop {
            let now = Instant::now();
            let enough = if self.phase == Phase::Clicking {
                self.until
            } else {
                self.load_until
            };
            // A page that is left is never loaded to its end.
            let until = if self.loaded || self.leaves.is_some() {
                (self.active + quiet).min(enough)
            } else {
                enough
            };
            if now >= until || self.unanswered.is_some() {
                return Ok(());
            }
            if let Some(message) = self.line.receive(until)? {
                self.hear(message)?;
            }
        }
    }

    fn hear(&mut self, message: Message) -> Result<(), Failure> {
        match message.method.as_str() {
            "Fetch.requestPaused" => {
                let batch = self.batch(message)?;
                self.answer(batch)?;
                self.active = Instant::now();
            }
            "Page.loadEventFired" => {
                self.loaded = true;
                self.active = Instant::now();
            }
            "Page.javascriptDialogOpening" => {
                self.tell("Page.handleJavaScriptDialog", json!({"accept": true}))?;
            }
            // It may ask for what nobody answers here.
            "Target.attachedToTarget" => self.incomplete = true,
            "Inspector.targetCrashed" | "Target.targetCrashed" => return Err(Failure::Crashed),
            _ => {}
        }
        Ok(())
    }

    /// The request with all others that wait already.
    fn batch(&mut self, first: Message) -> Result<Vec<Paused>, Failure> {
        let mut batch = Vec::new();
        let mut others = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            if message.method == "Fetch.requestPaused" {
                if let Ok(paused) = serde_json::from_value(message.params) {
                    batch.push(paused);
                }
            } else {
                others.push(message);
            }
            next = self.line.receive(Instant::now())?;
        }
        for message in others {
            self.line.put_back(message);
        }
        Ok(batch)
    }

    /// Answers requests: those to one host one after the other, and several hosts at once.
    fn answer(&mut self, batch: Vec<Paused>) -> Result<(), Failure> {
        let mut by_host: BTreeMap<String, Vec<(Paused, Url)>> = BTreeMap::new();
        for paused in batch {
            let Some(url) = self.answered_at_once(&paused)? else {
                continue;
            };
            let host = url.host_str().unwrap_or_default().to_owned();
            // Each host costs a request at least.
            if by_host.contains_key(&host) || by_host.len() < self.requests_left {
                by_host.entry(host).or_default().push((paused, url));
            } else {
                self.give(&paused, &Resource::Unanswered(too_many()))?;
            }
        }
        let left = AtomicUsize::new(self.requests_left);
        let (resources, until) = (self.resources, self.load_until.max(Instant::now()));
        let get = |url: &Url| {
            let within = until.saturating_duration_since(Instant::now());
            resources.get(url, within.max(QUIET))
        };
        let got: Vec<(Paused, Url, Resource)> = thread::scope(|scope| {
            let hosts = by_host
                .into_values()
                .map(|asked| scope.spawn(|| ask_host(asked, &left, get)));
            let hosts: Vec<_> = hosts.collect();
            let got = hosts
                .into_iter()
                .flat_map(|host| host.join().unwrap_or_default());
            got.collect()
        });
        self.requests_left = left.into_inner();
        for (paused, url, resource) in got {
            self.give(&paused, &resource)?;
            match &resource {
                // Another page of the visit has a budget of its own.
                Resource::Unanswered(why) if *why == too_many() => continue,
                Resource::Unreachable => self.unreachable.extend(url.host_str().map(str::to_owned)),
                Resource::Unanswered(_) | Resource::Answered(_) => {}
            }
            self.known.insert(paused.request.url, resource);
        }
        Ok(())
    }

    /// Answers what needs no lookup; else gives the URL to ask for.
    fn answered_at_once(&mut self, paused: &Paused) -> Result<Option<Url>, Failure> {
        let refuse = |tab: &mut Self, reason: &str| {
            tab.tell("Fetch.failRequest", paused.fail(reason))?;
            Ok(None)
        };
        let url = Url::parse(&paused.request.url).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(mut url) = url else {
            let id = json!({"requestId": paused.request_id});
            self.tell("Fetch.continueRequest", id)?;
            return Ok(None);
        };
        url.set_fragment(None);
        let purpose = paused.purpose();
        if purpose == Purpose::Document && paused.frame_id == self.frame {
            return self.main_document(paused, url).map(|()| None);
        }
        let is_wanted_image = self.images.contains(&paused.request.url);
        match purpose {
            Purpose::Image if !is_wanted_image => {
                self.tell("Fetch.fulfillRequest", paused.no_image())?;
                return Ok(None);
            }
            Purpose::Preflight => {
                let answer = ResourceAnswer {
                    status: 204,
                    headers: Vec::new(),
                    body: Vec::new(),
                };
                self.tell("Fetch.fulfillRequest", paused.fulfil(&answer))?;
                return Ok(None);
            }
            Purpose::Other => return refuse(self, "BlockedByClient"),
            _ => {}
        }
        if paused.request.method != "GET" {
            self.incomplete |= purpose == Purpose::Data;
            return refuse(self, "BlockedByClient");
        }
        if purpose == Purpose::Document {
            self.hops.push(url.clone());
            if self.hops.len() > MAX_FRAMES {
                return refuse(self, "BlockedByClient");
            }
            if !self.resources.may_read(&url) {
                self.forbidden.push(url);
                return refuse(self, "BlockedByClient");
            }
        }
        if let Some(known) = self.known.get(&paused.request.url).cloned() {
            self.give(paused, &known)?;
            return Ok(None);
        }
        let host = url.host_str().unwrap_or_default();
        if self.unreachable.contains(host) {
            self.give(paused, &Resource::Unreachable)?;
            return Ok(None);
        }
        Ok(Some(url))
    }

    /// The page itself was fetched already. Later, it is where a script leads its reader.
    fn main_document(&mut self, paused: &Paused, url: Url) -> Result<(), Failure> {
        if self.phase != Phase::Loading {
            if self.phase == Phase::Loaded && url != *self.url && self.leaves.is_none() {
                self.leaves = Some(url);
            }
            return self.tell("Fetch.failRequest", paused.fail("Aborted"));
        }
        self.phase = Phase::Loaded;
        let content_type = self.response.content_type.clone().into_iter();
        let headers = content_type.map(|value| ("Content-Type".to_owned(), value));
        let answer = ResourceAnswer {
            status: self.response.status,
            headers: headers.collect(),
            body: self.response.body.clone(),
        };
        self.tell("Fetch.fulfillRequest", paused.fulfil(&answer))
    }

    fn give(&mut self, paused: &Paused, resource: &Resource) -> Result<(), Failure> {
        let reason = match resource {
            Resource::Answered(answer) => {
                return self.tell("Fetch.fulfillRequest", paused.fulfil(answer));
            }
            Resource::Unreachable => "NameNotResolved",
            Resource::Unanswered(why) => {
                self.lacks(paused.purpose(), why.clone());
                "TimedOut"
            }
        };
        self.tell("Fetch.failRequest", paused.fail(reason))
    }

    /// Notes that something of the page did not come.
    fn lacks(&mut self, purpose: Purpose, why: Unanswered) {
        match purpose {
            Purpose::Needed if self.phase != Phase::Clicking => {
                self.unanswered.get_or_insert(why);
            }
            Purpose::Needed | Purpose::Data | Purpose::Document => self.incomplete = true,
            Purpose::Preflight | Purpose::Image | Purpose::Other => {}
        }
    }
}
