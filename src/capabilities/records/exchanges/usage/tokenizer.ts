// A module of its own, because its tables have 2 MB and are loaded with the first text to count.
export { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
