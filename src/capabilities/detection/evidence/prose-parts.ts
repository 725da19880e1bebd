/**
 * The prose of a text in the form of parts: fenced code, tables, lists, headings, quotations and
 * rules are left out, for what repeats there repeats for a reason; a text that is data or markup
 * as a whole has none. Each part is what stands between two such places.
 */
export function proseParts(text: string): string[] {
  if (isData(text)) return []
  const parts: string[] = []
  let part: string[] = []
  let fence: string | undefined
  const close = () => {
    if (part.length > 0) parts.push(part.join('\n'))
    part = []
  }
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    const mark = fenceOf(trimmed)
    if (fence !== undefined) {
      if (mark !== undefined && mark === fence) fence = undefined
    } else if (mark !== undefined) {
      fence = mark
      close()
    } else if (isMarked(line, trimmed)) close()
    else part.push(line)
  }
  close()
  return parts
}

function isData(text: string): boolean {
  const start = text.slice(0, 200).trimStart()
  return (
    /^(\{\s{0,100}["'}]|\[\s{0,100}[["'{\d\]])/.test(start) || /^<(?!think|reason)/i.test(start)
  )
}

function fenceOf(line: string): string | undefined {
  if (line.startsWith('```')) return '```'
  return line.startsWith('~~~') ? '~~~' : undefined
}

/** A line of a table, list, heading, quotation, rule, markup, log or code. */
function isMarked(line: string, trimmed: string): boolean {
  if (/^\[?(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|\d{4}-\d\d)\b/.test(trimmed)) return true
  if (/^(#{1,6} |>|<[a-z/]|[-*+•–] |\d{1,9}[.)] |\(?[a-z\d][.)] )/i.test(trimmed)) return true
  if (trimmed.startsWith('|') || trimmed.split('|').length > 2 || trimmed.includes('\t'))
    return true
  if (/^(\t| {4})/.test(line) || isCode(trimmed)) return true
  return trimmed !== '' && !/[\p{L}\p{N}]/u.test(trimmed)
}

/** A statement (`f(x);`, `} else {`), or fields that commas part without a blank. */
function isCode(trimmed: string): boolean {
  if (/[;{}]$/.test(trimmed) && /[()=<>{}]/.test(trimmed)) return true
  return (trimmed.match(/[,;](?=[^\s])/g)?.length ?? 0) >= 3
}
