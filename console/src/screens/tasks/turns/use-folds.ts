import { useUrlState } from '../../../browser/use-search.ts'

/** Folded parts of the turns. A part is named by a letter and a number, such as `u12`. */
export type Folds = {
  isOpen: (name: string, byDefault?: boolean) => boolean
  toggle: (name: string) => void
  /** Whether everything is open, except what was folded since. */
  isAllOpen: boolean
  openAll: (isOpen: boolean) => void
}

/** Keeps the folds in the URL: `all=1`, and the parts that differ from their default in `open`. */
export function useFolds(): Folds {
  const [{ all, open = '' }, change] = useUrlState()
  const toggled = new Set(open.split(',').filter(Boolean))
  const isAllOpen = all === '1'
  return {
    isOpen: (name, byDefault = false) => (isAllOpen || byDefault) !== toggled.has(name),
    toggle: (name) => {
      if (!toggled.delete(name)) toggled.add(name)
      change({ open: [...toggled].join(',') })
    },
    isAllOpen,
    openAll: (isOpen) => change({ all: isOpen ? '1' : undefined, open: undefined }),
  }
}
