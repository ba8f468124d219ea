/** The shapes that the widget's modules share. Types only: no page ever fetches this file. */

export interface Citation {
  number: number;
  url: string;
  title: string;
  quote: string;
  /** `url` with a text fragment: the browser scrolls to the quote and marks it. */
  link: string;
}

/** What the server knows of a site that visitors may know too. */
export interface Configuration {
  site: string;
  name: string;
  title: string;
  language: string;
  greeting: string;
  suggestions: string[];
  look: Look;
  limits: { message_chars: number };
}

export interface Look {
  accent?: string;
  position?: string;
}

/** The whole answer, as the `done` event carries it. */
export interface Done {
  conversation_id: string;
  message_id: string;
  outcome: string;
  answer: string;
  answer_html: string;
  citations: Citation[];
  suggestions: string[];
}

export interface Question {
  role: "visitor";
  text: string;
}

/** searching: nothing written yet; writing: words arrive; the others are final. */
export type Progress = "searching" | "writing" | "done" | "stopped" | "failed";

export interface Reply {
  role: "answer";
  state: Progress;
  /** Markdown as it was streamed, at the end the server's own. */
  text: string;
  html?: string;
  id?: string;
  /** Number of the last event that `text` and `citations` contain: where a resumed stream goes on. */
  seen: number;
  outcome?: string;
  citations: Citation[];
  suggestions: string[];
  helpful?: boolean;
  error?: Failure;
}

export type Message = Question | Reply;

/** Why an answer failed, in the terms of the texts shown, and the time (ms since 1970) before which asking again is futile. */
export interface Failure {
  kind: "offline" | "failed" | "limited" | "refused" | "cut" | "long";
  until?: number;
}

/** One conversation as this device keeps it. */
export interface Talk {
  /** The server's conversation id; empty until it has given one. */
  id: string;
  started: number;
  messages: Message[];
}

/** Cleaned markup: text, or an element of the allowed ones. */
export type Tree = string | Branch;
export interface Branch {
  tag: string;
  attributes: Record<string, string>;
  children: Tree[];
}

export interface ServerEvent {
  event: string;
  data: string;
  id: string;
}

/** A stored event of the stream, its number taken from its id. */
export interface ChatEvent {
  type: string;
  id: string;
  number: number;
  data: any;
}

export interface Storage {
  get(name: string, otherwise?: any): any;
  set(name: string, value: unknown): boolean;
}

export type Texts = Record<keyof typeof import("./src/texts/en.js").default, string>;

/** What the parts of the panel share: the words and what the conversation can do. */
export interface Context {
  texts: Texts;
  language: string;
  /** Tells a screen reader, once and politely. */
  announce(text: string): void;
  ask(text: string): void;
  retry(): void;
  rate(message: Reply, helpful: boolean, comment?: string): Promise<void>;
}
