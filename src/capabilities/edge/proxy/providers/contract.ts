/**
 * A model provider as the proxy sees it: an endpoint that speaks the common chat-completion
 * format. Adding one is a file of this type and a line in the registry.
 */
export type Provider<Name extends string = string> = {
  /** The value of X-Provider. */
  readonly name: Name
  /**
   * The provider's own base URL; the paths below are appended to its path. Undefined: it is known
   * only where the configuration gives it one.
   */
  readonly base_url: string | undefined
  readonly paths: Readonly<Record<'chat.completions' | 'completions', string>>
  /**
   * Whether `usage.prompt_tokens` of this endpoint includes the tokens that were read from or
   * written to a cache.
   */
  readonly usage_semantics: 'inclusive' | 'exclusive'
}
