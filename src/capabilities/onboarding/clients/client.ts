/** The languages of lines, which write a variable of the environment each in its own way. */
export const languages = ['python', 'node', 'shell', 'toml'] as const

export type Language = (typeof languages)[number]

/** A client that can be pointed at Looptrace. */
export type Client = {
  /** Argument of `looptrace connect`. */
  name: string
  /** Name in texts: `openai (Python)`. */
  title: string
  /** The API that its default call uses, or how it sends spans. */
  calls: string
  language: Language
  /**
   * The part of its base URL after the URL of Looptrace, with `<key>` for the project key; null for a client
   * that only sends spans.
   */
  base: '' | '/v1' | '/v1beta' | '/k/<key>' | null
  /** Where the project key goes: a header, or another place in words. */
  key_in: string
  /** The file or place for the lines. */
  place: string
  /**
   * The lines; `<url>` is the URL of Looptrace, `<key>` the project key, or the variable that holds it.
   */
  lines: readonly string[]
  /** Lines that hold the key itself, for a file that writes a variable in another way. */
  lines_with_key?: readonly string[]
}

/** The place for lines that make a client. */
export const program = 'your program, in place of its client'

/** The base URL and header of clients whose own key is in a header that is ours elsewhere. */
export const beside = { base: '', key_in: 'X-Looptrace-Key' } as const

/** A row of a client; what it leaves out is the same for most of its language. */
export type GivenClient = Partial<Client> & Pick<Client, 'name' | 'title' | 'calls' | 'lines'>
