/**
 * The shapes and contracts that the widget's modules share, described once. Types only: no page fetches this
 * file, which keeps what visitors download small.
 */

export interface Citation {
  number: number;
  url: string;
  title: string;
  quote: string;
  /** `url` with a text fragment: the browser scrolls to the quote and marks it. */
  link: string;
  /** Whether the site's owner corrected the page: then it does not show the quote itself. */
  corrected?: boolean;
}

/** What the server tells any visitor of a site. */
export interface Configuration {
  site: string;
  name: string;
  title: string;
  language: string;
  greeting: string;
  suggestions: string[];
  look: Look;
  limits: { message_chars: number };
  /** What a visitor agrees to before the first message; without a text nothing. */
  consent?: Consent;
  /** Who answers; the server stores with a conversation what of it was shown. */
  disclosure: Disclosure;
  contact?: ContactRules;
  /** What of the page may be sent with a question. */
  context?: { page: boolean; selection: boolean };
}

/** What is known of the configuration so far: the panel sets `disclosure` before the server does. */
export type Rules = Partial<Configuration> & Pick<Configuration, "disclosure">;

export interface Disclosure {
  text: string;
  /** The operator's own text. */
  more?: string;
}

export interface Consent {
  text: string;
  privacy_url: string;
}

/** How the site's people can be written to. */
export interface ContactRules {
  on: boolean;
  /** Whether somebody is there just now. */
  open: boolean;
  /** The hours in the site's own words. */
  hours: string;
  /** ISO time of the next opening, or empty. */
  opens: string;
  /** Address of the site's contact page, or empty. */
  link: string;
}

/** The page that a question is asked on. */
export interface Whereabouts {
  url: string;
  title: string;
  /** What the visitor has marked on it. */
  selection?: string;
}
/** Address (without fragment, and without a query unless the page's canonical address has it) and title of the page. */
export type Here = (selection?: string) => Whereabouts;
/** What is marked on the page outside of `host`. */
export type Marked = (host: HTMLElement) => string;

/** How a site wants its chat to look. What each may be: docs/widget.md. */
export type Look = Partial<
  Record<"accent" | "position" | "theme" | "radius" | "font" | "offset" | "icon" | "label" | "title" | "avatar", string>
>;
/** Takes out of a configured look what must not be in it: the server has checked it, but only it. */
export type Clean = (look: Look, server: string) => Look;
/** Writes into the style of a host what its attributes say, else the page's custom properties, else the look. */
export type Dress = (style: CSSStyleDeclaration, host: HTMLElement, look: Look) => void;
/** While it is on, the page does not scroll, and `sheet` tells how much of the window the keyboard leaves. */
export type MakeScreen = (sheet: CSSStyleSheet) => (on: boolean) => void;
/** Whether the keys of a shortcut such as mod+k were pressed; without a modifier not while a field is written in. */
export type Pressed = (shortcut: string, event: KeyboardEvent) => boolean;

export interface Question {
  role: "visitor";
  text: string;
  page?: Whereabouts;
}

/** Says that a message has gone to the site's people; its text is the reference. */
export interface Sent {
  role: "contact";
  text: string;
}

export interface Reply {
  role: "answer";
  /** searching: nothing written yet; writing: words arrive; consent: not asked before the visitor agrees; the others are final. */
  state: "searching" | "writing" | "consent" | "done" | "stopped" | "failed";
  /** Markdown as it was streamed, at the end the server's own. */
  text: string;
  html?: string;
  /** The server's id of it; empty as long as it has given none. */
  id: string;
  /** Number of the last event that is contained: where a resumed stream goes on; they count from 1. */
  seen: number;
  outcome?: string;
  citations: Citation[];
  suggestions: string[];
  /** The browser is doing the work that the server asks of it, for longer than a moment. */
  checking?: boolean;
  helpful?: boolean;
  /** Why it did not help, as far as it is typed and not yet sent. */
  comment?: string;
  error?: Failure;
}

export type Message = Question | Reply | Sent;

/** Why an answer failed. `kind` is a key of the texts; before `until` (ms since 1970) it is futile to ask again. */
export interface Failure {
  kind: "offline" | "failed" | "limited" | "refused" | "cut" | "long" | "insecure";
  until: number;
}

/** What an ApiError means to the visitor; `text` is what had come of the answer. */
export type WhyFailed = (error: { status: number; code: string; wait: number }, text?: string) => Failure;

/** One conversation as this device keeps it. */
export interface Talk {
  /** The server's conversation id; empty until it has given one. */
  id: string;
  /** When it began, in ms since 1970; tells the conversations of this device apart. */
  started: number;
  messages: Message[];
}

/** Cleaned markup: text, or one of the allowed elements. */
export type Tree = string | Branch;
export interface Branch {
  tag: string;
  attributes: Record<string, string>;
  children: Tree[];
}

/**
 * `parse` reads the server's HTML into a tree of nothing but allowed elements and attributes, whatever the HTML
 * was; what is not known becomes text or is left out. It reads by itself because Trusted Types close the
 * browser's parsers to code. `markdown` does the same for Markdown that may break off anywhere: what a visitor
 * reads while the answer is written. The server's HTML replaces it, so rarities (nested lists) may stay plain.
 */
export type Parse = (text: string) => Tree[];

/**
 * A parser of server-sent events as Docent's server sends them (line feeds, one line of data) for text that comes in
 * pieces of any length: called with each piece, it returns the fields of the events that the piece completes.
 */
export type EventParser = () => (piece: string) => Record<string, string>[];

/** An event of an answer's stream. Its id `message:number` is taken apart, its data parsed. */
export interface ChatEvent {
  type: string;
  id: string;
  number: number;
  data: any;
}

/**
 * Values by name, as JSON, of one site on this device. Where the browser refuses storage they last as long as
 * the page. `set` tells whether the value outlives it; null removes.
 */
export interface Store {
  get(name: string, otherwise?: any): any;
  set(name: string, value: unknown): boolean;
}
export type MakeStore = (site: string, kind?: "localStorage" | "sessionStorage") => Store;

/**
 * Keeps a conversation among this device's ten latest ones, newest first, with its last 200 messages. It is called
 * when a question is asked, when the server has taken it, and when its answer is complete: not for each word. Reads before it writes, for other tabs
 * keep theirs; when the room is short, the oldest go.
 */
export type Keep = (store: Store, talk: Talk) => void;

/** What the server can be asked. Failures reject with an ApiError, in which `wait` are the seconds before
 * which asking again is futile. A token that the server takes no more is renewed once. */
export interface Api {
  /** Another `anew` goes past what the browser keeps. */
  configuration(anew?: number): Promise<Configuration>;
  /** The events of an answer as they come: of a new one, or, after `last` (an event's id), of one that broke off. */
  chat(body: Record<string, unknown>, last: string, signal: AbortSignal, working: Working): AsyncGenerator<ChatEvent>;
  /** To the site's people, with the conversation. */
  contact(body: { email: string; message: string; conversation_id?: string }): Promise<{ reference: string }>;
  /** From now on the visitor has agreed to this text; the server is told with the next token. */
  agree(text: string | true): void;
  feedback(message: string, helpful: boolean, comment?: string): Promise<unknown>;
  /** Erases at the server what this visitor said, and forgets the visitor. */
  erase(): Promise<void>;
}
/** `base` ends in /api/v1/; `language` is the one of the widget's texts. */
export type MakeApi = (base: string, site: string, store: Store, language: string) => Api;
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  how?: { headers?: Record<string, string>; signal?: AbortSignal; working?: Working },
) => Promise<Response>;

/** Is told now and then for how many ms the browser has been working. */
export type Working = (time: number) => void;
/**
 * Finds a text so that SHA-256("challenge:text") begins with `bits` zero bits. The page stays responsive meanwhile.
 * Rejects with the ApiError "insecure" where the browser has no SHA-256, and when the signal ends it.
 */
export type Solve = (challenge: string, bits: number, signal?: AbortSignal, working?: Working) => Promise<string>;
/** A time to come in the visitor's language and time zone; else empty. */
export type Opening = (time: string, language: string, now?: number) => string;
/** How the contact form is offered after these messages: empty when not, closed as a line, or open. */
export type Offered = (messages: Message[]) => "" | "closed" | "open";

/** What was asked and answered, and the rules of asking: one answer at a time, nothing lost, nothing doubled. */
export interface Conversation {
  readonly talk: Talk;
  /** Whether an answer is awaited, also if another tab has asked and the server has not replied yet. */
  readonly busy: boolean;
  /** Whether a question can be asked now: no answer is being written, none waits for the visitor's consent. */
  readonly ready: boolean;
  /** Whether nothing has to be agreed to (any more). */
  agreed(): boolean;
  /** What the site says of itself, as far as it is known. */
  readonly rules: Rules;
  configure(known: Configuration): void;
  /** Those kept on this device, newest first. */
  readonly talks: Talk[];
  /** Shows a kept conversation (the given one, else this tab's, else the last day's newest) and finishes its answer. */
  load(started?: number): void;
  /** Begins a conversation; the one before stays among the kept ones. */
  fresh(): void;
  /** Keeps the conversation as it is at this moment. */
  save(): void;
  /** Takes over what another tab has added to this conversation, and an answer that has come there meanwhile. */
  refresh(): void;
  /** Asks, if it is `ready`. Settles when it is answered, stopped or failed, or waits for the visitor's consent. */
  ask(text: string, page?: Whereabouts): Promise<void>;
  /** The visitor agrees; what waits for that is asked. */
  agree(): Promise<void>;
  /** Sends a message to the site's people and resolves to its reference. */
  contact(email: string, message: string): Promise<string>;
  /** Goes on with the last answer where it broke off, or asks for it again. */
  retry(): Promise<void>;
  stop(): void;
  rate(message: Reply, helpful: boolean, comment?: string): Promise<void>;
  /** Forgets everything, here and at the server. */
  erase(): Promise<void>;
}
/** `tab` is the store of this tab alone; `changed` is told the answer that changed, or nothing when the list did. */
export type MakeConversation = (api: Api, store: Store, tab: Store, changed: (reply?: Reply) => void) => Conversation;

export type Texts = Record<keyof typeof import("./src/texts/en.js").default, string>;

export type Child = Node | string | null | undefined | false;
/**
 * An element with attributes, listeners (functions under "onevent") and children. Attribute names come from our
 * own code only; attributes that are null, undefined or false are left out; text goes in as text nodes.
 */
export type MakeElement = <T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes?: Record<string, any>,
  ...children: Child[]
) => HTMLElementTagNameMap[T];
/** A button that is an icon, its name shown on hover. */
export type MakeTool = (name: string, path: string, onclick: () => void, more?: Record<string, any>) => HTMLButtonElement;
/** Lets a button say how long it cannot be pressed yet, and frees it at `until` (ms since 1970). */
export type Countdown = (node: HTMLButtonElement, name: string, until: number) => void;
/** A link out of the widget; whether it needs a new tab is decided when it is followed. */
export type MakeLink = (href: string, attributes: Record<string, any>, ...children: Child[]) => HTMLAnchorElement;
/** Cleaned markup as nodes; `cite` and `code` make what stands for a citation marker and for a block of code. */
export type Build = (tree: Tree, cite: (number: number) => Node, code: (pre: HTMLElement) => Node) => Node;

/** What the parts of the panel share. */
export interface Context {
  texts: Texts;
  language: string;
  conversation: Conversation;
  /** Copies, and lets the button say so. */
  copy(words: string, button: HTMLElement): void;
  /** Asks and follows the answer; a question that cannot be asked now is offered to the composer. */
  ask(question: string, page?: Whereabouts): void;
  /** The link to the privacy page, if there is one. */
  privacy(consent?: Consent): (Node | string)[];
  /** Tells screen readers. */
  announce(words: string): void;
  /** Tells screen readers, and moves the focus to the conversation. */
  tell(words: string): void;
}

/** Where the visitor writes, with what he has marked on the page. */
export interface Composer {
  node: HTMLElement;
  focus(): void;
  draw(): void;
  /** Notes what is marked on the page just now. */
  take(host: HTMLElement): void;
  /** What goes with the next question, and is used up by that. */
  page(): Whereabouts | undefined;
  /** Writes the words for the visitor unless he has written some. */
  offer(words: string): void;
  configure(known: Configuration): void;
}
export type MakeComposer = (context: Context, store: Store) => Composer;

/** The form by which the visitor reaches people. */
export interface Contact {
  node: HTMLElement;
  /** Offers itself when the conversation gives reason to. */
  draw(): void;
  /** What the menu has of it; `done` closes the menu. */
  items(done: () => void): HTMLElement[];
}
export type MakeContact = (context: Context, store: Store) => Contact;

/** The small card beside a citation marker that is pointed at or focused: title, quote, address. */
export interface Card {
  node: HTMLElement;
  /** Lets a marker show the card of its citation. */
  attach(marker: HTMLElement, citation: Citation): void;
  /** Hides the card; false when there was none to hide. */
  dismiss(): boolean;
}
export type MakeCard = () => Card;

/** One message as it is seen. `update` draws what changed in it; `last` tells whether it is the newest. */
export type MakeView = (message: Message, context: Context, card: Card) => { node: HTMLElement; update(last: boolean): void };

export interface Panel {
  node: HTMLElement;
  /** To where the visitor writes. */
  focus(): void;
  ask(question: string): void;
  /** Draws what changed. A given answer is told to screen readers too: when it is sought, and once when it is done. */
  changed(reply?: Reply): void;
  configure(known: Configuration): void;
  /** Notes what is marked on the page just now. */
  take(host: HTMLElement): void;
  /** Its heading, and the address of a picture beside it. */
  wear(title?: string, picture?: string): void;
  /** Hides what lies over the panel; false when nothing did. */
  dismiss(): boolean;
}
/** Without `close` the panel is a part of the page, with it a dialog. */
export type MakePanel = (given: {
  texts: Texts;
  language: string;
  conversation: Conversation;
  store: Store;
  close?: () => void;
}) => Panel;

/**
 * `<site-chat site="ID">`: a chat that answers from one site. The loader places it as a floating panel beside its
 * launcher; placed by hand it is a part of the page (`<script type="module" src=".../src/site-chat.js">`).
 *
 * Attributes: `site` (its id), `lang`, `title`, `accent` (#rrggbb), `position` (left, right), `theme` (light,
 * dark; else as the system), `server` (where the API is, when not where the script came from).
 * Events, bubbling: `sitechat:open`, `sitechat:close`, and with a detail `sitechat:message` (the finished Reply),
 * `sitechat:citation` (the address followed), `sitechat:error` (the Failure).
 * Parts: `launcher`, `panel`. Custom properties: `--site-chat-font`, `--site-chat-radius`, `--site-chat-offset`,
 * `--site-chat-z`, `--site-chat-height`.
 */
export interface SiteChat extends HTMLElement {
  readonly opened: boolean;
  /** Builds the panel, unseen, and fetches what the site says of itself. */
  prepare(): Promise<void>;
  open(how?: { focus?: boolean }): Promise<void>;
  close(): void;
  toggle(): void;
  /** Opens the panel and asks. */
  ask(question: string): Promise<void>;
  /** Begins a new conversation. */
  reset(): Promise<void>;
}
