import { useState } from 'react'
import { formatCount } from './format.ts'
import { Button, classes } from './parts.tsx'
import { splitHidden } from './printable.ts'
import css from './ui.module.css'

/** A line of recorded text: hidden characters are made visible, nothing is interpreted. */
export function Plain({ children }: { children: string }) {
  return (
    <bdi>
      {splitHidden(children).map(({ at, text, isEscape }) =>
        isEscape ? (
          <span key={at} className={css.hidden} title="Hidden character">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  )
}

const lines_max = 20
const characters_max = 4_000
const maxWholeCharacters = 200_000

/**
 * A recorded text of any length. It is cut at 20 lines, and a very long one is shown in part only:
 * the browser would hang on it. Recorded texts are hostile, so they are never Markdown or HTML.
 */
export function LongText({ text, mono }: { text: string; mono?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const short = cutText(text)
  const shown = isWhole ? text.slice(0, maxWholeCharacters) : short
  const rest = text.length - shown.length
  return (
    <div>
      <p className={classes(css.text, mono && css.mono)}>
        <Plain>{shown}</Plain>
        {rest > 0 && '…'}
      </p>
      {short.length < text.length && (
        <Button small look="plain" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
          {isWhole ? 'Show less' : `Show more (${formatCount(text.length)} characters)`}
        </Button>
      )}
      {isWhole && rest > 0 && (
        <p className={css.soft}>
          The last {formatCount(rest)} characters are not shown. Read them with the API.
        </p>
      )}
    </div>
  )
}

function cutText(text: string): string {
  const start = text.slice(0, characters_max)
  const lines = start.split('\n')
  return lines.length > lines_max ? lines.slice(0, lines_max).join('\n') : start
}
