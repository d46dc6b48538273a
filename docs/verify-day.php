<?php // Verifies the manifest of a day offline, as verify-day.mjs does. Needs PHP 8 with sodium alone.
//   php verify-day.php manifest.json key.txt ids.txt kept.txt
$require = fn(bool $holds, string $says, int $code = 2) => $holds || fwrite(STDERR, "$says\n") && exit($code);
$require(count($argv) === 5, 'usage: php verify-day.php manifest.json key.txt ids.txt kept.txt', 3);
set_error_handler(fn(int $_, string $says) => throw new ErrorException($says));
set_exception_handler(fn(Throwable $fault) => $require(false, "cannot be checked: {$fault->getMessage()}", 3));
$files = array_slice($argv, 1);
$attempt = function (callable $act) { try { return $act(); } catch (Throwable) { return null; } };
$need = fn(int $at, bool $holds, string $says) => $require($holds, "cannot be checked: {$files[$at]} $says: get it again", 3);
$read = fn($file) => preg_replace('/^\xEF\xBB\xBF/', '', file_get_contents($file));
[$manifest, $vkey, $ids, $kept] = $texts = array_map(fn($file) => is_dir($file) ? null : $attempt(fn() => $read($file)), $files);
foreach ($texts as $at => $text) $need($at, $text !== null, 'cannot be read');
foreach ([$manifest, $vkey] as $at => $text) $need($at, $text !== '', 'is empty');
$hash = fn(string $bytes) => hash('sha256', $bytes, true);
// each file has its form
$answer = json_decode($manifest, true, flags: JSON_INVALID_UTF8_SUBSTITUTE);
$answer = is_array($answer) ? $answer['data'] ?? $answer : [];
$payload = is_array($answer) ? $answer['payload'] ?? null : null;
$need(0, is_string($payload) && array_key_exists('proof', $answer), 'is cut off or no manifest with a proof');
$need(0, $answer['proof'] !== null, 'has no proof yet');
$statement = base64_decode(strtr($payload, '-_', '+/'));
$stated = json_decode($statement, true);
[$messages, $digest] = is_array($stated) ? [$stated['messages'] ?? null, $stated['ids_sha256'] ?? null] : [null, null];
$isStated = is_int($messages) && is_string($digest) && preg_match('/^[0-9a-f]{64}$/D', $digest) && is_string($answer['proof']);
$need(0, $isStated, 'is cut off or no manifest with a proof');
$form = '~^c2sp\.org/tlog-proof@v1\nindex ([0-9]{1,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n(([^\n]+)\n([0-9]{1,15})\n([A-Za-z0-9+/]{43}=)\n)\n((?:— [^ \n]+ [A-Za-z0-9+/]+={0,2}\n)+)$~D';
$need(0, preg_match($form, $answer['proof'], $parts) === 1, 'is cut off or no manifest with a proof');
[, $index, $path, $text, $origin, $size, $root, $signatures] = $parts;
[, $name, $id, $base64] = preg_match('~^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})\s*$~D', $vkey, $parts) ? $parts : ['', '', '', ''];
$keyBytes = base64_decode($base64);
$need(1, bin2hex(substr($hash("$name\n$keyBytes"), 0, 4)) === $id, 'is cut off or no key of a log');
$lines = array_map(fn($line) => explode(' ', $line), explode("\n", trim($signatures)));
$own = array_map(fn($line) => base64_decode($line[2]), array_filter($lines, fn($line) => $line[1] === $name));
$signed = array_values(array_filter($own, fn($bytes) => bin2hex(substr($bytes, 0, 4)) === $id))[0] ?? null;
$need(0, $signed === null || strlen($signed) === 68, 'is cut off or no manifest with a proof');
$split = fn(string $list) => preg_split('/[ \t\r\n]+/', $list, flags: PREG_SPLIT_NO_EMPTY);
foreach ([$all, $mine] = [$split($ids), $split($kept)] as $at => $list) {
    $need($at + 2, $list !== [] || $messages === 0, 'is empty');
    $need($at + 2, count(preg_grep('/^[\w.:-]+$/D', $list)) === count($list), 'is no list of ids');
}
$isWhole = $ids === implode(array_map(fn($one) => "$one\n", $all)) && count($all) >= $messages;
$need(2, $isWhole, 'is cut off or no list of ids');
// the log signed the checkpoint
$require($origin === $name && $signed !== null, 'not signed by the log');
$require(sodium_crypto_sign_verify_detached(substr($signed, 4), $text, substr($keyBytes, 1)), 'not signed by the log');
// the statement is in the tree of the checkpoint (RFC 9162, section 2.1.3.2)
[$at, $last, $found] = [(int) $index, $size - 1, $hash("\0$statement")];
$require($at <= $last, 'not in the log');
foreach (array_map('base64_decode', $split($path)) as $sibling) {
    $require($last > 0, 'not in the log');
    $isRight = $at % 2 === 1 || $at === $last;
    $found = $hash($isRight ? "\1$sibling$found" : "\1$found$sibling");
    while ($isRight && $at % 2 === 0 && $at > 0) [$at, $last] = [$at >> 1, $last >> 1];
    [$at, $last] = [$at >> 1, $last >> 1];
}
$require($last === 0 && base64_encode($found) === $root, 'not in the log');
// the ids are those of the statement
$require(bin2hex($hash($ids)) === $digest, 'not the ids of this manifest');
$missing = array_diff($all, $mine);
echo implode("\n", array_map(fn($one) => "missing $one", $missing)) ?: 'nothing is missing', "\n";
exit($missing ? 1 : 0);
