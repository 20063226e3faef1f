// The code editor of the approval card; a chunk of its own.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, drawSelection, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';

export interface EditOptions {
  code: string;
  label: string;
  onchange: (code: string) => void;
  onrun: () => void;
}

/** Puts an editor into a place and focuses it. Returns the way to remove it. */
export function edit(place: HTMLElement, options: EditOptions): () => void {
  const run = () => {
    options.onrun();
    return true;
  };
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: options.code,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        python(),
        indentUnit.of('    '),
        syntaxHighlighting(classHighlighter),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': options.label }),
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onchange(update.state.doc.toString());
        }),
      ],
    }),
  });
  view.focus();
  return () => view.destroy();
}
