import { useState } from 'react'
import { formatCount } from './format.ts'
import css from './json.module.css'
import { Plain } from './text.tsx'

type Value = unknown

const children_max = 200
const text_max = 2_000

/**
 * A JSON value as a tree that opens step by step, so that a large one does not slow the page. Only
 * open parts are in the page.
 */
export function Json({ value, open = 1 }: { value: Value; open?: number }) {
  return (
    <div className={css.json}>
      <Node value={value} depth={open} />
    </div>
  )
}

function Node({ value, depth }: { value: Value; depth: number }) {
  const [isOpen, setOpen] = useState(depth > 0)
  const [shown, setShown] = useState(children_max)
  if (typeof value !== 'object' || value === null) return <Leaf value={value} />
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const size = `${formatCount(entries.length)} ${isList ? 'items' : 'fields'}`
  if (entries.length === 0) return <span>{isList ? '[]' : '{}'}</span>
  return (
    <>
      <button
        type="button"
        className={css.fold}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? '▾' : '▸'} {isList ? '[' : '{'} {size} {isList ? ']' : '}'}
      </button>
      {isOpen && (
        <ul className={css.list}>
          {entries.slice(0, shown).map(([name, child]) => (
            <li key={name}>
              <span className={css.name}>
                <Plain>{name}</Plain>:
              </span>{' '}
              <Node value={child} depth={depth - 1} />
            </li>
          ))}
          {entries.length > shown && (
            <li>
              <button
                type="button"
                className={css.fold}
                onClick={() => setShown(shown + children_max)}
              >
                Show {formatCount(Math.min(children_max, entries.length - shown))} more
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  )
}

function Leaf({ value }: { value: Value }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={css.scalar}>{String(value)}</span>
  const shown = isWhole ? value : value.slice(0, text_max)
  return (
    <span className={css.text}>
      "<Plain>{shown}</Plain>"
      {shown.length < value.length && (
        <button type="button" className={css.fold} onClick={() => setWhole(true)}>
          … {formatCount(value.length)} characters
        </button>
      )}
    </span>
  )
}
