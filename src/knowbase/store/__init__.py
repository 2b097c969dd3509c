"""Where bases are kept: the contract, and one folder an engine."""

from knowbase.store.tokenizer import porter_unicode61, stems_alone
from knowbase.text.analysis import use_tokenizer

use_tokenizer(porter_unicode61, stems_alone)
