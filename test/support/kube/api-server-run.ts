/** One run of an API server, with all that it needs. */
export type ApiServerProcess = {
  url: string
  /** Of the API server itself. */
  pid: number
  /** Drops the history that lists and watches of older versions need. */
  compact(): Promise<void>
  end(signal: NodeJS.Signals): Promise<void>
}

export type ApiServerFiles = {
  /** Kept over restarts. */
  directory: string
  /** CSV of token,user,uid,"groups". */
  token_file: string
  /** A token of system:masters. */
  admin_token: string
  /** 0 takes a free one. */
  port: number
}
