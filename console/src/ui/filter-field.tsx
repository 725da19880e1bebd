import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import css from './filter-field.module.css'
import { Button } from './parts.tsx'
import ui from './ui.module.css'

/** Proposals for the cursor. `text` replaces the part from `from` to `to`. */
type Proposals = {
  from: number
  to: number
  proposals: readonly { text: string; about: string; isWhole: boolean }[]
}

type FilterProps = {
  label: string
  /** The filter in use. */
  value: string
  onApply: (text: string) => void
  propose: (text: string, cursor: number) => Proposals
  /** Messages about parts that cannot be used. */
  faults: readonly { token: string; message: string }[]
  placeholder: string
}

/**
 * The filter of a list, with completion: arrows choose a proposal and Enter takes it; Enter without
 * a choice applies the filter. `/` puts the focus here.
 */
export function FilterField({ label, value, onApply, propose, faults, placeholder }: FilterProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const field = useProposals({ value, onApply, propose, input })
  const { text, shown, at } = field
  return (
    <search className={css.field}>
      <div className={css.line}>
        <input
          ref={input}
          data-filter
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
          aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
          aria-invalid={faults.length > 0 || undefined}
          className={css.input}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          maxLength={2_000}
          value={text}
          onChange={(event) => field.type(event.target.value)}
          onFocus={field.open}
          onClick={field.open}
          onBlur={field.close}
          onKeyDown={field.onKeyDown}
        />
        {text !== value && <Button onClick={() => field.apply(text)}>Apply</Button>}
        {text !== '' && <Button onClick={() => field.apply('')}>Clear</Button>}
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Proposals"
        className={css.list}
        hidden={shown.length === 0}
      >
        {shown.map((each, index) => (
          <div
            key={each.text}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={css.option}
            // The focus stays in the field.
            onMouseDown={(event) => {
              event.preventDefault()
              field.take(index)
            }}
          >
            <code>{each.text}</code>
            <span className={ui.soft}>{each.about}</span>
          </div>
        ))}
      </div>
      {faults.length > 0 && (
        <ul id={`${id}-faults`} className={css.faults}>
          {faults.map(({ token, message }) => (
            <li key={token}>
              <code>{token}</code> is not used: {message}
            </li>
          ))}
        </ul>
      )}
    </search>
  )
}

/** Keeps the text while it is typed, the proposals for its cursor, and the one that is chosen. */
function useProposals({
  value,
  onApply,
  propose,
  input,
}: Pick<FilterProps, 'value' | 'onApply' | 'propose'> & {
  input: React.RefObject<HTMLInputElement | null>
}) {
  const [text, setText] = useState(value)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  // The URL changed by Back or a link.
  useEffect(() => setText(value), [value])
  // React leaves the cursor at the end of a changed text.
  const cursor = useRef<number>(undefined)
  useLayoutEffect(() => {
    if (cursor.current === undefined) return
    input.current?.setSelectionRange(cursor.current, cursor.current)
    cursor.current = undefined
  })
  const { from, to, proposals } = propose(text, input.current?.selectionStart ?? text.length)
  const shown = isOpen ? proposals : []
  const at = Math.min(chosen, shown.length - 1)
  const type = (changed: string) => {
    setText(changed)
    setChosen(-1)
    setOpen(true)
  }
  const apply = (changed: string) => {
    const trimmed = changed.trim()
    setText(trimmed)
    setOpen(false)
    onApply(trimmed)
  }
  const take = (index: number) => {
    const proposal = shown[index]
    if (proposal === undefined) return
    const end = proposal.isWhole ? ' ' : ''
    const before = `${text.slice(0, from)}${proposal.text}${end}`
    type(before + text.slice(to).replace(/^ /, proposal.isWhole ? '' : ' '))
    cursor.current = before.length
  }
  const step = (by: number) => {
    const count = proposals.length
    setOpen(true)
    if (count > 0) setChosen(((at < 0 && by < 0 ? 0 : at) + by + count) % count)
  }
  const actions: Record<string, () => void> = {
    arrowdown: () => step(1),
    arrowup: () => step(-1),
    enter: () => (at >= 0 ? take(at) : apply(text)),
    escape: () => (isOpen ? setOpen(false) : input.current?.blur()),
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const action = actions[event.key.toLowerCase()]
    if (action === undefined || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }
  return {
    text,
    shown,
    at,
    type,
    apply,
    take,
    onKeyDown,
    open: () => setOpen(true),
    close: () => {
      setOpen(false)
      setChosen(-1)
    },
  }
}
