import { serveThread } from '../../../platform/threads/index.ts'
import { readDocument } from '../knowledge/read-document.ts'
import type { PageAnswer, PageQuestion } from './read-page.ts'

/**
 * Characters of a text, and of an article, that are kept. The rest of a longer page is not read.
 */
const text_chars_max = 400_000
const article_chars_max = 100_000
const title_chars_max = 300
/** Characters read of a page that exceeded the limits of the thread at the first attempt. */
const plain_chars_max = 1_000_000
/** Tags of a page from which its article is not looked for: the tree would take too much memory. */
const tags_max = 60_000
/**
 * Characters of an article; a shorter one is more likely a part of the page, and the page is read.
 */
const article_chars_min = 200

/**
 * Reads a page, in a thread with little memory: a hostile page can take all memory and time that it
 * gets, because the tree of a page, and Readability's passes over it, are recursive.
 */
async function readPage({ format, source, way }: PageQuestion): Promise<PageAnswer> {
  const page = way === 'plain' ? source.slice(0, plain_chars_max) : source
  const text = cut(readDocument(format, page).text)
  const article = format === 'html' && way === 'article' ? await findArticle(page) : undefined
  const isArticle = article !== undefined && article.text.length >= article_chars_min
  return {
    title: (article?.title ?? titleOf(page, format)).slice(0, title_chars_max),
    text,
    article: (isArticle ? article.text : text).slice(0, article_chars_max),
  }
}

function cut(text: string): string {
  return text.slice(0, text_chars_max)
}

/**
 * Finds the article of a page with Readability; undefined for a page without an article and for a
 * deep page. The libraries are loaded here, so that a thread for plain text starts at once.
 */
async function findArticle(source: string): Promise<{ title: string; text: string } | undefined> {
  if (countTags(source) > tags_max) return undefined
  const { parseHTML } = await import('linkedom')
  const { Readability } = await import('@mozilla/readability')
  try {
    const { document } = parseHTML(source)
    const article = new Readability(document, { maxElemsToParse: tags_max }).parse()
    if (typeof article?.content !== 'string') return undefined
    return { title: article.title ?? '', text: cut(readDocument('html', article.content).text) }
  } catch {
    return undefined
  }
}

function countTags(source: string): number {
  let count = 0
  for (let at = source.indexOf('<'); at !== -1; at = source.indexOf('<', at + 1)) count += 1
  return count
}

function titleOf(source: string, format: PageQuestion['format']): string {
  if (format !== 'html') return ''
  const written = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(source)?.[1] ?? ''
  return readDocument('html', written).text.trim().slice(0, title_chars_max)
}

serveThread(readPage)
