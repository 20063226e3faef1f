// Prose of the model as safe HTML. Raw HTML is off, addresses are limited, and
// the result goes through DOMPurify as a second wall.
import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';
import { highlight, escapeHTML } from './highlight';

const md = new MarkdownIt({ html: false, linkify: false, typographer: false });

md.validateLink = (address) => /^(https?:|mailto:)/i.test(address.trim());

// An image would be fetched from somewhere: only its text and address are shown.
md.renderer.rules.image = (tokens, i) => {
  const source = String(tokens[i].attrGet('src') ?? '');
  const label = tokens[i].content || source;
  return `<a href="${escapeHTML(source)}">${escapeHTML(label)}</a>`;
};

const code = (content: string, language: string) => {
  const name = language.split(/\s/)[0];
  const label = name ? ` data-language="${escapeHTML(name)}"` : '';
  return `<pre tabindex="0"${label}><code>${highlight(content.replace(/\n$/, ''), name)}</code></pre>`;
};
md.renderer.rules.fence = (tokens, i) => code(tokens[i].content, tokens[i].info);
md.renderer.rules.code_block = (tokens, i) => code(tokens[i].content, '');
md.renderer.rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
md.renderer.rules.table_close = () => '</table></div>';

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ...['hr', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'table', 'tbody', 'td', 'th'],
    ...['thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'class', 'start', 'tabindex', 'data-language', 'style'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

// markdown-it writes "text-align:…" on table cells; no other style may pass.
function clean(html: string): string {
  return DOMPurify.sanitize(html, ALLOWED).replace(
    / style="(?!text-align:\s*(?:left|right|center);?")[^"]*"/g,
    '',
  );
}

/** One top-level block of an answer. */
export interface Block {
  source: string;
  html: string;
}

/**
 * Renders text block by block. Blocks of prev whose source is the same are
 * handed back, so while an answer grows only its last block is made anew.
 */
export function blocks(text: string, prev: Block[] = []): Block[] {
  const env = {};
  const tokens = md.parse(text, env);
  const rows = text.split('\n');
  const known = new Map(prev.map((block) => [block.source, block]));
  const list: Block[] = [];
  for (let i = 0; i < tokens.length;) {
    let end = i + 1;
    if (tokens[i].nesting === 1) {
      while (end < tokens.length && !(tokens[end].level === 0 && tokens[end].nesting === -1)) end++;
      end++;
    }
    const map = tokens[i].map;
    const source = map ? rows.slice(map[0], map[1]).join('\n') : '';
    // Link references elsewhere in the text can change a block: those are not reused.
    const fixed = source !== '' && !source.includes('[');
    const before = fixed ? known.get(source) : undefined;
    list.push(
      before ?? { source, html: clean(md.renderer.render(tokens.slice(i, end), md.options, env)) },
    );
    i = end;
  }
  return list;
}

/** The whole text as safe HTML. */
export function markdown(text: string): string {
  return blocks(text)
    .map((block) => block.html)
    .join('');
}
