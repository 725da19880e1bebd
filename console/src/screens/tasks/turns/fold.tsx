import type { ReactNode } from 'react'
import css from './turns.module.css'
import { useTurnView } from './view.ts'

/** A part that folds. Whether it is open is in the URL under `name`. */
export function Fold({
  name,
  title,
  byDefault,
  isForced,
  className,
  children,
}: {
  name: string
  title: ReactNode
  byDefault?: boolean
  /** Open in any case, because the selected turn is inside. */
  isForced?: boolean
  className?: string | undefined
  children: () => ReactNode
}) {
  const { folds } = useTurnView()
  const isOpen = isForced === true || folds.isOpen(name, byDefault)
  return (
    <div className={className}>
      <button
        type="button"
        className={css.fold}
        aria-expanded={isOpen}
        onClick={() => folds.toggle(name)}
      >
        <span aria-hidden="true" className={css.arrow}>
          {isOpen ? '▾' : '▸'}
        </span>
        <span className={css.foldTitle}>{title}</span>
      </button>
      {isOpen && <div className={css.inside}>{children()}</div>}
    </div>
  )
}
