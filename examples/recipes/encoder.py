"""A Hugging Face encoder as `save_pretrained` writes it; a small one, without a download."""

from transformers import BertConfig, BertModel

CONFIG = BertConfig(
    vocab_size=500,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=64,
)

if __name__ == "__main__":
    BertModel(CONFIG).save_pretrained("encoder")
