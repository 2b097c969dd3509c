// A rendered document: the server sends a tree of few elements, and elements are made of it. No
// text of a document is ever read as HTML.
import { createElement, type VNode } from "preact";

export type Node = string | { e: string; a?: Record<string, string>; c?: Node[] };

const ELEMENTS = new Set(
  "h1 h2 h3 h4 h5 h6 p ul ol li pre code em strong s blockquote table thead tbody tr th td a hr br span div mark".split(" "),
);
const ATTRIBUTES = new Set("href title id class start align data-line".split(" "));
const SAFE = /^(https?:|mailto:|\/d\/|#)/i;

/** What a screen puts into the heading of this anchor. */
export type Beside = (anchor: string) => VNode | null;

export function Tree({ nodes, beside }: { nodes: Node[]; beside?: Beside }) {
  return <>{nodes.map((node) => element(node, beside))}</>;
}

function element(node: Node, beside?: Beside): VNode | string {
  if (typeof node === "string") return node;
  if (!ELEMENTS.has(node.e)) return createElement("span", null, ...inside(node, beside));
  const attributes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(node.a ?? {})) {
    if (ATTRIBUTES.has(name) && (name !== "href" || SAFE.test(value))) attributes[name] = value;
  }
  if (node.e === "a" && /^(https?|mailto):/i.test(String(attributes.href))) {
    attributes.rel = "noopener noreferrer nofollow";
    attributes.target = "_blank";
  }
  if (node.e === "pre" || node.e === "table") attributes.tabIndex = 0; // scrolled by keys, too
  const more = node.e === "h2" && beside ? beside(String(attributes.id)) : null;
  return createElement(node.e, attributes, ...inside(node, beside), more);
}

const inside = (node: Exclude<Node, string>, beside?: Beside): (VNode | string)[] => (node.c ?? []).map((one) => element(one, beside));
