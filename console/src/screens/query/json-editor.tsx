import { currentProject } from '../../api/client.ts'
import { Copy } from '../../ui/copy.tsx'
import ui from '../../ui/ui.module.css'
import { type Body, formatBody, readBody, type Window } from './body.ts'
import css from './query.module.css'

/** The typed text, and the query from which it was made. */
export type Typed = { text: string; of: string }

const minLinesShown = 8

/**
 * The query as JSON. What can be read becomes the query of the builder at once; what cannot stays
 * here, also while another tab is open.
 */
export function JsonEditor({
  body,
  written,
  address,
  typed,
  onType,
  onChange,
}: {
  body: Body
  written: Window
  /** The body that the API gets, for a copy as a command. */
  address: () => string
  typed: Typed | undefined
  onType: (typed: Typed) => void
  onChange: (body: Body, window: Window | undefined) => void
}) {
  const current = formatBody(body, written)
  const text = typed?.of === current ? typed.text : current
  const read = readBody(text)
  const lines = text.split('\n').length
  return (
    <div className={ui.stack}>
      <div className={css.editor}>
        <pre className={css.numbers} aria-hidden="true">
          {Array.from({ length: Math.max(lines, minLinesShown) }, (_, at) => at + 1).join('\n')}
        </pre>
        <textarea
          aria-label="Query as JSON"
          spellCheck={false}
          autoComplete="off"
          rows={Math.max(lines, minLinesShown)}
          aria-invalid={read.body === undefined}
          value={text}
          onChange={(event) => {
            const changed = event.target.value
            const next = readBody(changed)
            const of =
              next.body === undefined ? current : formatBody(next.body, next.window ?? written)
            onType({ text: changed, of })
            if (next.body !== undefined) onChange(next.body, next.window)
          }}
        />
      </div>
      {read.body === undefined && (
        <p className={ui.fault} role="alert">
          {read.fault}. The builder keeps the last query that could be read.
        </p>
      )}
      <div className={ui.row}>
        <Copy small text={() => text}>
          Copy the JSON
        </Copy>
        <Copy small text={address}>
          Copy as curl
        </Copy>
      </div>
    </div>
  )
}

/** Returns the command that sends a query to the API. */
export function curlOf(path: string, body: object): string {
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`)
  return [
    `curl -s '${window.location.origin}${path}'`,
    `-H "X-API-Key: $LOOPTRACE_API_KEY" -H 'X-Project-ID: ${currentProject() ?? ''}'`,
    `-H 'Content-Type: application/json' -d '${quoted}'`,
  ].join(' \\\n  ')
}
