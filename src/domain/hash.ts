/** Short names of texts, to remember that something was there before without keeping it. Not for security. */

/** FNV-1a over UTF-16 code units, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), in base 36. */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
