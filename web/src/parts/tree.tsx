// A rendered document: the server sends a tree of few elements, and elements are made of it. No
// text of a document is ever read as HTML.
import { createElement, type VNode } from "preact";

export type Node = string | { e: string; a?: Record<string, string>; c?: Node[] };

const ELEMENTS = new Set(
  "h1 h2 h3 h4 h5 h6 p ul ol li pre code em strong s blockquote table thead tbody tr th td a img hr br span div mark details summary".split(" "),
);
const ATTRIBUTES = new Set("href title id class start align data-line".split(" "));
const SAFE = /^(https?:|mailto:|\/d\/|#)/i;

export function Tree({ nodes }: { nodes: Node[] }) {
  return <>{nodes.map(element)}</>;
}

function element(node: Node): VNode | string {
  if (typeof node === "string") return node;
  if (!ELEMENTS.has(node.e) || node.e === "img") return createElement("span", null, ...(node.c ?? []).map(element));
  const attributes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(node.a ?? {})) {
    if (ATTRIBUTES.has(name) && (name !== "href" || SAFE.test(value))) attributes[name] = value;
  }
  if (node.e === "a" && /^(https?|mailto):/i.test(String(attributes.href))) {
    attributes.rel = "noopener noreferrer nofollow";
    attributes.target = "_blank";
  }
  if (node.e === "pre" || node.e === "table") attributes.tabIndex = 0; // scrolled by keys, too
  return createElement(node.e, attributes, ...(node.c ?? []).map(element));
}
